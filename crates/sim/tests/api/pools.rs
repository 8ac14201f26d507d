//! Memory pools as a user of them sees them.

use std::os::fd::AsFd;

use peermap_driver::{
    ByteSize, CuResult, Device, DevicePtr, Driver, HandleType, MemPool, MemPoolAttribute, MemPoolProps, OsHandle,
    ShareableHandle, Stream,
};
use peermap_model::{Grace, POOL_UNIT, Policy};
use peermap_sim::{SimMachine, SimProcess};

use crate::support::{in_context, machine, machine_with, read, rule};

const NON_BLOCKING: u32 = 1;
const SIZE: ByteSize = ByteSize::mib(2);

fn reserved(process: &SimProcess, pool: MemPool) -> u64 {
    process.mem_pool_get_attribute(pool, MemPoolAttribute::RESERVED_MEM_CURRENT).unwrap()
}

#[test]
fn memory_that_is_freed_in_one_stream_under_work_of_another_faults_by_the_free() {
    let process = in_context(&machine_with(Policy::Measured, Grace::Never));
    let [user, owner] = [0; 2].map(|_| process.stream_create(NON_BLOCKING).unwrap());
    let ptr = process.mem_alloc_async(SIZE, owner).unwrap();
    process.memset_d8_async(ptr, 1, SIZE, user).unwrap();
    process.mem_free_async(ptr, owner).unwrap(); // nothing orders this behind the fill
    process.stream_synchronize(owner).unwrap();
    let error = process.stream_synchronize(user).unwrap_err();
    assert_eq!(error.result(), Some(CuResult::ILLEGAL_ADDRESS));
    assert_eq!(error.explanation().unwrap().earlier.unwrap().call.name(), "cuMemFreeAsync");
}

#[test]
fn an_event_between_the_streams_makes_it_right() {
    let process = in_context(&machine_with(Policy::Measured, Grace::Never));
    let [user, owner] = [0; 2].map(|_| process.stream_create(NON_BLOCKING).unwrap());
    let used = process.event_create(2).unwrap();
    let ptr = process.mem_alloc_async(SIZE, owner).unwrap();
    process.memset_d8_async(ptr, 1, SIZE, user).unwrap();
    process.event_record(used, user).unwrap();
    process.stream_wait_event(owner, used, 0).unwrap();
    process.mem_free_async(ptr, owner).unwrap();
    process.stream_synchronize(owner).unwrap();
    process.stream_synchronize(user).unwrap();
    let pool = process.device_get_default_mem_pool(Device(0)).unwrap();
    assert_eq!(reserved(&process, pool), 0);
}

/// A process with two streams, the second of which nothing orders behind the first, and memory that was filled and freed on
/// the first; none of that work has run.
fn freed_under_work(process: &SimProcess, pool: Option<MemPool>) -> [Stream; 2] {
    let streams = [0; 2].map(|_| process.stream_create(NON_BLOCKING).unwrap());
    let [first, _] = streams;
    let ptr = match pool {
        Some(pool) => process.mem_alloc_from_pool_async(SIZE, pool, first).unwrap(),
        None => process.mem_alloc_async(SIZE, first).unwrap(),
    };
    process.memset_d8_async(ptr, 1, SIZE, first).unwrap();
    process.mem_free_async(ptr, first).unwrap();
    streams
}

fn made_pool(process: &SimProcess) -> MemPool {
    process.mem_pool_create(&MemPoolProps::pinned_on(0, HandleType::NONE)).unwrap()
}

/// A pool with room for one allocation.
fn full_pool(process: &SimProcess) -> MemPool {
    let props = MemPoolProps { max_size: ByteSize::mib(32), ..MemPoolProps::pinned_on(0, HandleType::NONE) };
    process.mem_pool_create(&props).unwrap()
}

#[test]
fn what_another_stream_freed_behind_its_work_is_left_alone_while_the_pool_can_grow() {
    let process = in_context(&machine_with(Policy::Measured, Grace::Never));
    let pool = made_pool(&process);
    let [_, second] = freed_under_work(&process, Some(pool));
    let large = ByteSize::mib(31);
    process.mem_alloc_from_pool_async(large, pool, second).unwrap();
    assert_eq!(reserved(&process, pool), 64 << 20);
}

#[test]
fn a_stream_that_takes_over_what_another_freed_waits_for_it() {
    let process = in_context(&machine_with(Policy::Measured, Grace::Never));
    let pool = full_pool(&process);
    let [first, second] = freed_under_work(&process, Some(pool));
    let whole = ByteSize::mib(32);
    let ptr = process.mem_alloc_from_pool_async(whole, pool, second).unwrap();
    process.memset_d8_async(ptr, 2, SIZE, second).unwrap();
    process.stream_synchronize(second).unwrap();
    process.stream_synchronize(first).unwrap();
    assert_eq!(read(&process, ptr, 3), [2; 3]);
}

#[test]
fn a_stream_may_not_take_over_what_waits_on_another_where_the_pool_may_not_order_them() {
    let process = in_context(&machine_with(Policy::Measured, Grace::Never));
    let pool = full_pool(&process);
    process.mem_pool_set_attribute(pool, MemPoolAttribute::REUSE_ALLOW_INTERNAL_DEPENDENCIES, 0).unwrap();
    let [first, second] = freed_under_work(&process, Some(pool));
    let whole = ByteSize::mib(32);
    assert_eq!(rule(process.mem_alloc_from_pool_async(whole, pool, second)), "POOL-7");
    process.mem_alloc_from_pool_async(whole, pool, first).unwrap();
}

#[test]
fn a_stream_or_a_pool_that_goes_leaves_its_memory_to_the_work_before_the_free() {
    for goes in ["stream", "pool", "pool, and another stream is waited for"] {
        let process = in_context(&machine_with(Policy::Measured, Grace::Never));
        let pool = made_pool(&process);
        let [first, second] = freed_under_work(&process, Some(pool));
        match goes {
            "stream" => process.stream_destroy(first).unwrap(),
            _ => process.mem_pool_destroy(pool).unwrap(),
        }
        if goes.ends_with("waited for") {
            process.stream_synchronize(second).unwrap();
        }
        process.ctx_synchronize().unwrap_or_else(|error| panic!("{goes}: {error}"));
        if goes == "stream" {
            assert_eq!(reserved(&process, pool), 0);
        }
    }
}

#[test]
fn what_is_freed_on_a_blocking_stream_goes_with_the_null_stream_and_its_work_has_ended_then() {
    let process = in_context(&machine_with(Policy::Measured, Grace::Never));
    let stream = process.stream_create(0).unwrap();
    let ptr = process.mem_alloc_async(SIZE, stream).unwrap();
    process.memset_d8_async(ptr, 1, SIZE, stream).unwrap();
    process.mem_free_async(ptr, stream).unwrap();
    process.stream_synchronize(Stream::NULL).unwrap();
    process.stream_query(stream).unwrap();
    let pool = process.device_get_default_mem_pool(Device(0)).unwrap();
    assert_eq!(reserved(&process, pool), 0);
}

#[test]
fn a_synchronisation_lets_nothing_go_that_another_thread_queued_while_it_waited() {
    let process = in_context(&machine_with(Policy::Measured, Grace::Never));
    let stream = process.stream_create(NON_BLOCKING).unwrap();
    let context = process.ctx_get_current().unwrap();
    let large = ByteSize::mib(256);
    let ptr = process.mem_alloc_async(large, stream).unwrap();
    for round in 0..4 {
        process.memset_d8_async(ptr, round, large, stream).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                process.ctx_set_current(context).unwrap();
                process.stream_synchronize(stream)
            });
            std::thread::sleep(std::time::Duration::from_millis(5));
            for _ in 0..20 {
                let small = process.mem_alloc_async(SIZE, stream).unwrap();
                process.memset_d8_async(small, 2, SIZE, stream).unwrap();
                process.mem_free_async(small, stream).unwrap();
            }
            waiting.join().unwrap().unwrap();
        });
        process.stream_synchronize(stream).unwrap();
    }
}

/// A pool of one process, and the same in another.
fn shared_pool(owner: &SimProcess, importer: &SimProcess) -> (MemPool, MemPool) {
    let pool = owner.mem_pool_create(&MemPoolProps::pinned_on(0, HandleType::POSIX_FILE_DESCRIPTOR)).unwrap();
    let exported = owner.mem_pool_export_to_shareable_handle(pool, HandleType::POSIX_FILE_DESCRIPTOR, 0).unwrap();
    let ShareableHandle::PosixFd(descriptor) = exported else { panic!("it is no descriptor") };
    let from = OsHandle::Fd(descriptor.as_fd());
    let there = importer.mem_pool_import_from_shareable_handle(from, HandleType::POSIX_FILE_DESCRIPTOR, 0).unwrap();
    (pool, there)
}

#[test]
fn an_import_that_is_partly_still_imported_is_not_guessed() {
    let machine = machine();
    let (owner, importer) = (in_context(&machine), in_context(&machine));
    let (pool, imported) = shared_pool(&owner, &importer);
    let allocate = |size| owner.mem_alloc_from_pool_async(size, pool, Stream::NULL).unwrap();
    let import = |ptr| importer.mem_pool_import_pointer(imported, &owner.mem_pool_export_pointer(ptr).unwrap());
    let first = allocate(SIZE);
    let seen = import(first).unwrap();
    owner.mem_free_async(first, Stream::NULL).unwrap();
    owner.ctx_synchronize().unwrap();
    let half = ByteSize::mib(1);
    assert_eq!(import(allocate(half)).unwrap(), seen);
    let error = import(allocate(SIZE)).unwrap_err();
    assert!(error.to_string().contains("partly what this process still has"), "{error}");
}

/// A free of an address.
type Free = fn(&SimProcess, DevicePtr) -> peermap_driver::Result<()>;

#[test]
fn a_free_of_what_another_process_has_imported_is_reported_with_both_calls() {
    let in_order: Free = |process, ptr| process.mem_free_async(ptr, Stream::NULL);
    let at_once: Free = |process, ptr| process.mem_free(ptr);
    for (free, call) in [(in_order, "cuMemFreeAsync"), (at_once, "cuMemFree")] {
        let machine = machine();
        let (owner, importer) = (in_context(&machine), in_context(&machine));
        let (pool, there) = shared_pool(&owner, &importer);
        let shared = || {
            let ptr = owner.mem_alloc_from_pool_async(SIZE, pool, Stream::NULL).unwrap();
            let data = owner.mem_pool_export_pointer(ptr).unwrap();
            (ptr, importer.mem_pool_import_pointer(there, &data).unwrap())
        };
        let (ptr, seen) = shared();
        importer.mem_free_async(seen, Stream::NULL).unwrap();
        importer.ctx_synchronize().unwrap();
        free(&owner, ptr).unwrap();
        owner.ctx_synchronize().unwrap();
        assert_eq!(owner.misuses(), [], "the importer was first");
        let (ptr, _) = shared();
        free(&owner, ptr).unwrap();
        let [misuse] = &owner.misuses()[..] else { panic!("one misuse: {:?}", owner.misuses()) };
        assert_eq!((misuse.rule.0, misuse.earlier.unwrap().call.name()), ("POOL-28", "cuMemPoolImportPointer"));
        assert!(misuse.to_string().contains(&format!("by {call} (call ")), "{misuse}");
    }
}

#[test]
fn a_pool_outlives_its_owner_for_who_imported_it_and_is_gone_with_the_last_descriptor() {
    let machine = machine();
    let (owner, importer) = (in_context(&machine), in_context(&machine));
    let props = MemPoolProps::pinned_on(0, HandleType::POSIX_FILE_DESCRIPTOR);
    let pool = owner.mem_pool_create(&props).unwrap();
    let ptr = owner.mem_alloc_from_pool_async(SIZE, pool, Stream::NULL).unwrap();
    owner.memset_d8(ptr, 7, SIZE).unwrap();
    owner.ctx_synchronize().unwrap();
    let exported = owner.mem_pool_export_to_shareable_handle(pool, HandleType::POSIX_FILE_DESCRIPTOR, 0).unwrap();
    let ShareableHandle::PosixFd(descriptor) = exported else { panic!("it is no descriptor") };
    let data = owner.mem_pool_export_pointer(ptr).unwrap();
    drop(owner);
    let from = OsHandle::Fd(descriptor.as_fd());
    let imported = importer.mem_pool_import_from_shareable_handle(from, HandleType::POSIX_FILE_DESCRIPTOR, 0).unwrap();
    let seen = importer.mem_pool_import_pointer(imported, &data).unwrap();
    assert_eq!(read(&importer, seen, 3), [7; 3]);
    importer.mem_free_async(seen, Stream::NULL).unwrap();
    importer.ctx_synchronize().unwrap();
    importer.mem_pool_destroy(imported).unwrap();
    assert_eq!(machine.holders().unwrap().0.len(), 1, "the descriptor keeps the memory");
    drop(descriptor);
    assert_eq!(machine.holders().unwrap().0.len(), 0);
}

#[test]
fn a_refusal_names_the_call_that_made_what_it_collides_with() {
    let process = in_context(&machine());
    let ptr = process.mem_alloc_async(SIZE, Stream::NULL).unwrap();
    let inside = ptr.checked_add(ByteSize::new(512)).unwrap();
    let error = process.mem_free_async(inside, Stream::NULL).unwrap_err();
    assert_eq!(error.rule().unwrap().0, "POOL-8");
    assert_eq!(error.explanation().unwrap().earlier.unwrap().call.name(), "cuMemAllocAsync");
    process.mem_free_async(ptr, Stream::NULL).unwrap();
    let error = process.mem_free_async(ptr, Stream::NULL).unwrap_err();
    assert_eq!(error.rule().unwrap().0, "POOL-8");
    assert_eq!(error.explanation().unwrap().earlier.unwrap().call.name(), "cuMemFreeAsync");
}

#[test]
fn what_hangs_the_driver_is_said_and_not_played() {
    let process = in_context(&machine());
    let ptr = process.mem_alloc(SIZE).unwrap();
    process.mem_free_async(ptr, Stream::NULL).unwrap();
    for again in [process.mem_free_async(ptr, Stream::NULL), process.mem_free(ptr)] {
        let error = again.unwrap_err();
        assert_eq!(error.result(), None);
        assert!(error.to_string().contains("hangs"), "{error}");
    }
    process.ctx_synchronize().unwrap();
    assert_eq!(rule(process.mem_free(ptr)), "ALLOC-3");
}

#[test]
fn pools_work_on_every_profile_and_under_a_hostile_policy() {
    for profile in ["default", "g64k", "no-peer", "nvl72"] {
        let process = in_context(&SimMachine::named(profile).unwrap());
        let pool = process.device_get_default_mem_pool(Device(0)).unwrap();
        process.mem_alloc_async(SIZE, Stream::NULL).unwrap();
        assert_eq!(reserved(&process, pool), POOL_UNIT, "{profile}");
    }
    let process = in_context(&machine_with(Policy::Hostile { seed: 3 }, Grace::Never));
    let all: Vec<DevicePtr> = (0..40).map(|_| process.mem_alloc_async(SIZE, Stream::NULL).unwrap()).collect();
    for (value, ptr) in (0..).zip(&all) {
        process.memset_d8(*ptr, value, SIZE).unwrap();
    }
    process.ctx_synchronize().unwrap();
    for (value, ptr) in (0..).zip(&all) {
        assert_eq!(read(&process, *ptr, 2), [value; 2]);
    }
}
