//! Work in flight when what it uses goes, and what a fault leaves behind.

use std::fmt::Debug;

use peermap_driver::{
    AccessDesc, AccessFlags, ByteSize, CuResult, Device, DevicePtr, Driver, DriverError, Location, Stream, Value,
};
use peermap_sim::SimProcess;

use crate::support::{GRANULE, create, export, import, in_context, machine, map, mapped, offset, process, read, rule};

/// A process whose contexts died of a fill that lost its mapping.
fn faulted() -> (SimProcess, DevicePtr) {
    let process = in_context(&machine());
    let (_, ptr) = mapped(&process, GRANULE);
    process.memset_d8(ptr, 1, GRANULE).unwrap();
    process.mem_unmap(ptr, GRANULE).unwrap();
    assert_eq!(rule(process.ctx_synchronize()), "FAULT-1");
    (process, ptr)
}

fn is_fault<T: Debug>(answer: Result<T, DriverError>) -> bool {
    let error = answer.unwrap_err();
    error.result() == Some(CuResult::ILLEGAL_ADDRESS) && error.rule().unwrap().0 == "FAULT-1"
}

#[test]
fn unmapping_under_a_fill_faults_at_the_next_wait() {
    let process = in_context(&machine());
    let (_, ptr) = mapped(&process, GRANULE);
    process.memset_d8(ptr, 1, GRANULE).unwrap();
    process.mem_unmap(ptr, GRANULE).unwrap();
    assert_eq!(process.ctx_get_device(), Ok(Device(0)), "nobody has waited yet");
    let error = process.ctx_synchronize().unwrap_err();
    assert_eq!(error.result(), Some(CuResult::ILLEGAL_ADDRESS));
    let explanation = error.explanation().unwrap();
    assert_eq!(explanation.facts[0], ("address", Value::Address(ptr.get())));
    assert_eq!(explanation.earlier.unwrap().call.name(), "cuMemUnmap");
    let work = &explanation.facts.iter().find(|(name, _)| *name == "work").unwrap().1;
    assert!(work.to_string().starts_with("cuMemsetD8 (call "), "{work}");
}

/// The facts of this name, in words.
fn fact(error: &DriverError, wanted: &str) -> Option<String> {
    let facts = &error.explanation().unwrap().facts;
    facts.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.to_string())
}

#[test]
fn a_fault_tells_what_is_mapped_around_it_and_who_made_that() {
    let process = in_context(&machine());
    let [(first, before), (_, gone), (_, hole), (_, behind)] = [0; 4].map(|_| mapped(&process, GRANULE));
    let own = process.mem_alloc(GRANULE).unwrap();
    process.memset_d8(hole, 1, GRANULE).unwrap();
    process.mem_unmap(gone, GRANULE).unwrap();
    process.mem_unmap(hole, GRANULE).unwrap();
    process.mem_unmap(behind, GRANULE).unwrap();
    let error = process.ctx_synchronize().unwrap_err();
    let told = fact(&error, "mapped before").unwrap();
    let start = format!("{{start {before}, size 2 MiB, distance 2 MiB, handle {:#x}, rights ", first.as_raw());
    assert!(told.starts_with(&start) && told.contains("read and write, made by cuMemMap (call "), "{told}");
    let told = fact(&error, "mapped behind").unwrap();
    assert!(told.starts_with(&format!("{{start {own}, size 2 MiB, distance ")), "{told}");
    assert!(told.contains("made by cuMemAlloc (call "), "{told}");
    assert_eq!(fact(&error, "mapped there"), None);
}

#[test]
fn a_fault_for_want_of_a_right_tells_the_mapping_that_is_there() {
    let process = in_context(&machine());
    let (_, ptr) = mapped(&process, GRANULE);
    process.memset_d8(ptr, 1, GRANULE).unwrap();
    let desc = AccessDesc { location: Location::device(0), flags: AccessFlags::READ };
    process.mem_set_access(ptr, GRANULE, &[desc]).unwrap();
    let error = process.ctx_synchronize().unwrap_err();
    let told = fact(&error, "mapped there").unwrap();
    assert!(told.starts_with(&format!("{{start {ptr}, size 2 MiB, handle ")), "{told}");
    assert!(told.contains("rights read, made by cuMemMap (call "), "{told}");
    assert_eq!(fact(&error, "mapped behind"), None);
}

#[test]
fn taking_the_right_away_under_a_fill_faults_and_keeps_the_bytes() {
    for flags in [AccessFlags::NONE, AccessFlags::READ] {
        let machine = machine();
        let (process, other) = (in_context(&machine), in_context(&machine));
        let handle = create(&process, 0, GRANULE);
        let ptr = map(&process, handle, GRANULE);
        let seen = map(&other, import(&other, &export(&process, handle)).unwrap(), GRANULE);
        process.memset_d8(ptr, 1, GRANULE).unwrap();
        let desc = AccessDesc { location: Location::device(0), flags };
        process.mem_set_access(ptr, GRANULE, &[desc]).unwrap();
        assert!(is_fault(process.ctx_synchronize()), "{flags}");
        assert_eq!(read(&other, seen, 4), [0; 4], "{flags}");
    }
}

#[test]
fn what_lies_before_the_fault_has_been_written() {
    let machine = machine();
    let (process, other) = (in_context(&machine), in_context(&machine));
    let [first, second] = [0; 2].map(|_| create(&process, 0, GRANULE));
    let seen = map(&other, import(&other, &export(&process, first)).unwrap(), GRANULE);
    let size = ByteSize::mib(4);
    let ptr = process.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0).unwrap();
    let behind = offset(ptr, GRANULE.get());
    process.mem_map(ptr, GRANULE, ByteSize::ZERO, first, 0).unwrap();
    process.mem_map(behind, GRANULE, ByteSize::ZERO, second, 0).unwrap();
    process.mem_set_access(ptr, size, &[AccessDesc::read_write(0)]).unwrap();
    process.memset_d8(ptr, 6, size).unwrap();
    process.mem_unmap(behind, GRANULE).unwrap();
    let error = process.ctx_synchronize().unwrap_err();
    assert_eq!(error.explanation().unwrap().facts[0], ("address", Value::Address(behind.get())));
    assert_eq!(read(&other, seen, GRANULE.to_usize().unwrap()), vec![6; GRANULE.to_usize().unwrap()]);
}

#[test]
fn a_fault_stays() {
    let (process, ptr) = faulted();
    let stream_calls = [process.stream_query(Stream::NULL), process.stream_synchronize(Stream::NULL)];
    assert!(stream_calls.into_iter().all(is_fault));
    assert!(is_fault(process.ctx_synchronize()));
    assert!(is_fault(process.ctx_synchronize()), "however often one asks");
    assert!(is_fault(process.memset_d8(ptr, 1, GRANULE)));
    assert!(is_fault(process.memcpy_dtoh(&mut [0], ptr)));
    assert!(is_fault(process.memcpy_htod(ptr, &[0])));
    assert!(is_fault(process.mem_alloc(GRANULE)));
    assert!(is_fault(process.mem_get_info()));
    assert!(is_fault(process.stream_create(0)));
    assert!(is_fault(process.event_create(0)));
    assert!(is_fault(process.ctx_get_device()));
    assert!(is_fault(process.ctx_create(0, Device(0))));
    assert!(is_fault(process.ctx_create(0, Device(1))), "on every device");
    assert!(is_fault(process.device_primary_ctx_retain(Device(1))));
}

#[test]
fn destroying_the_context_does_not_help() {
    let (process, _) = faulted();
    let context = process.ctx_get_current().unwrap().unwrap();
    process.ctx_set_current(Some(context)).unwrap();
    process.ctx_destroy(context).unwrap();
    assert!(is_fault(process.ctx_create(0, Device(0))));
}

#[test]
fn virtual_memory_calls_go_on_after_a_fault() {
    let (process, _) = faulted();
    let (handle, ptr) = mapped(&process, GRANULE);
    assert_eq!(process.mem_get_access(ptr, Location::device(0)), Ok(AccessFlags::READWRITE));
    import(&process, &export(&process, handle)).unwrap();
    process.mem_unmap(ptr, GRANULE).unwrap();
    process.mem_address_free(ptr, GRANULE).unwrap();
    process.mem_release(handle).unwrap();
}

#[test]
fn a_fault_is_the_process_s_own() {
    let machine = machine();
    let (first, second) = (in_context(&machine), in_context(&machine));
    let handle = create(&first, 0, GRANULE);
    let ptr = map(&first, handle, GRANULE);
    let seen = map(&second, import(&second, &export(&first, handle)).unwrap(), GRANULE);
    first.memset_d8(ptr, 4, GRANULE).unwrap();
    first.ctx_synchronize().unwrap();
    first.memset_d8(ptr, 5, GRANULE).unwrap();
    first.mem_unmap(ptr, GRANULE).unwrap();
    assert!(is_fault(first.ctx_synchronize()));
    assert_eq!(read(&second, seen, 2), [4, 4]);
    second.memset_d8(seen, 9, GRANULE).unwrap();
    assert_eq!(second.ctx_synchronize(), Ok(()));
}

#[test]
fn after_a_fault_nothing_that_is_queued_runs() {
    let machine = machine();
    let (process, other) = (in_context(&machine), in_context(&machine));
    let handle = create(&process, 0, GRANULE);
    let ptr = map(&process, handle, GRANULE);
    let seen = map(&other, import(&other, &export(&process, handle)).unwrap(), GRANULE);
    let (_, lost) = mapped(&process, GRANULE);
    let stream = process.stream_create(1).unwrap();
    process.memset_d8(lost, 1, GRANULE).unwrap();
    process.memset_d8_async(ptr, 2, GRANULE, stream).unwrap();
    process.mem_unmap(lost, GRANULE).unwrap();
    assert!(is_fault(process.ctx_synchronize()));
    assert!(is_fault(process.stream_synchronize(stream)));
    assert_eq!(read(&other, seen, 1), [0]);
}

#[test]
fn a_copy_that_may_not_is_refused_at_once_and_harms_nothing() {
    let process = in_context(&machine());
    let (_, ptr) = mapped(&process, GRANULE);
    let past = offset(ptr, GRANULE.get());
    assert_eq!(rule(process.memset_d8(ptr, 1, ByteSize::mib(4))), "COPY-1");
    assert_eq!(rule(process.memset_d8(past, 1, GRANULE)), "COPY-1");
    assert_eq!(rule(process.memcpy_htod(past, &[1])), "COPY-1");
    assert_eq!(rule(process.memcpy_dtod(ptr, past, GRANULE)), "COPY-1");
    assert_eq!(rule(process.memcpy_dtod(past, ptr, GRANULE)), "COPY-1");
    process.ctx_synchronize().unwrap();
    assert_eq!(read(&process, ptr, 2), [0, 0]);
}

#[test]
fn freeing_memory_waits_for_work_that_uses_it() {
    let process = in_context(&machine());
    let ptr = process.mem_alloc(GRANULE).unwrap();
    let (_, copy) = mapped(&process, GRANULE);
    let stream = process.stream_create(1).unwrap();
    process.memset_d8_async(ptr, 3, GRANULE, stream).unwrap();
    process.memcpy_dtod_async(copy, ptr, GRANULE, stream).unwrap();
    process.mem_free(ptr).unwrap();
    assert_eq!(process.stream_query(stream), Ok(()));
    assert_eq!(read(&process, copy, 2), [3, 3]);
}

#[test]
fn destroying_a_context_waits_for_its_work() {
    let process = in_context(&machine());
    let (_, ptr) = mapped(&process, GRANULE);
    process.memset_d8(ptr, 3, GRANULE).unwrap();
    process.ctx_destroy(process.ctx_get_current().unwrap().unwrap()).unwrap();
    process.ctx_create(0, Device(0)).unwrap();
    assert_eq!(read(&process, ptr, 2), [3, 3], "mappings outlive contexts");
}

#[test]
fn releasing_the_handle_and_destroying_the_stream_let_work_finish() {
    let process = in_context(&machine());
    let (handle, ptr) = mapped(&process, GRANULE);
    let stream = process.stream_create(1).unwrap();
    process.memset_d8_async(ptr, 3, GRANULE, stream).unwrap();
    process.mem_release(handle).unwrap();
    process.stream_destroy(stream).unwrap();
    process.ctx_synchronize().unwrap();
    assert_eq!(read(&process, ptr, 2), [3, 3]);
}

#[test]
fn work_that_is_queued_is_lost_when_its_process_ends() {
    let machine = machine();
    let (dying, other) = (in_context(&machine), in_context(&machine));
    let handle = create(&dying, 0, GRANULE);
    let ptr = map(&dying, handle, GRANULE);
    let seen = map(&other, import(&other, &export(&dying, handle)).unwrap(), GRANULE);
    dying.memset_d8(ptr, 3, GRANULE).unwrap();
    drop(dying);
    assert_eq!(read(&other, seen, 2), [0, 0]);
}

#[test]
fn before_init_nothing_but_init_works() {
    let process = machine().process().unwrap();
    assert_eq!(rule(process.ctx_create(0, Device(0))), "INIT-1");
    assert_eq!(rule(process.mem_unmap(DevicePtr::NULL, GRANULE)), "INIT-1");
    assert_eq!(rule(process.init(1)), "INIT-2");
    assert_eq!(process.driver_get_version(), Ok(13000));
    assert!(process.get_error_name(CuResult::NOT_READY).is_ok());
}

#[test]
fn without_a_context_virtual_memory_works_and_copies_do_not() {
    let process = process(&machine());
    let (_, ptr) = mapped(&process, GRANULE);
    assert_eq!(rule(process.memset_d8(ptr, 1, GRANULE)), "CTX-1");
    assert_eq!(rule(process.ctx_synchronize()), "CTX-1");
}
