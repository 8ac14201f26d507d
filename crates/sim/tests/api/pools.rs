//! Memory pools as a user of them sees them.

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
    let from = OsHandle::Fd(std::os::fd::AsFd::as_fd(&descriptor));
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
