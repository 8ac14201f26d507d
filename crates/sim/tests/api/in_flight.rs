//! Work that may still use what goes: what is reported of it, whether or not it has run.

use std::time::Duration;

use peermap_driver::{AccessDesc, AccessFlags, ByteSize, Device, DevicePtr, Driver, IpcMemHandle, Location, Stream};
use peermap_model::{Grace, Policy};
use peermap_sim::{SimMachine, SimProcess};

use crate::support::{GRANULE, create, in_context, machine, machine_with, mapped, process, read};

const NON_BLOCKING: u32 = 1;
const INTERPROCESS: u32 = 6;

/// The rules of what was reported, with the call on either side.
fn reports(process: &SimProcess) -> Vec<(&'static str, String, &'static str)> {
    let by =
        |misuse: &peermap_model::Misuse| misuse.facts.iter().find(|(name, _)| *name == "by").unwrap().1.to_string();
    let call = |site: String| site.split(' ').next().unwrap().to_owned();
    let other = |misuse: &peermap_model::Misuse| misuse.earlier.unwrap().call.name();
    process.misuses().iter().map(|misuse| (misuse.rule.0, call(by(misuse)), other(misuse))).collect()
}

/// A process in which a fill of mapped memory on a stream has run by luck: nobody has waited for it.
fn lucky() -> (SimProcess, Stream, DevicePtr) {
    let process = in_context(&machine_with(Policy::Measured, Grace::Calls(0)));
    let (_, ptr) = mapped(&process, GRANULE);
    let stream = process.stream_create(NON_BLOCKING).unwrap();
    process.memset_d8_async(ptr, 7, GRANULE, stream).unwrap();
    process.ctx_get_device().unwrap();
    (process, stream, ptr)
}

fn unmap_reported(process: &SimProcess, ptr: DevicePtr) -> Vec<(&'static str, String, &'static str)> {
    process.mem_unmap(ptr, GRANULE).unwrap();
    reports(process)
}

fn a_fill_was_overtaken() -> Vec<(&'static str, String, &'static str)> {
    vec![("UNMAP-5", "cuMemUnmap".to_owned(), "cuMemsetD8Async")]
}

#[test]
fn an_unmap_under_work_that_waits_in_its_queue_is_reported_with_both_calls() {
    let process = in_context(&machine());
    let (_, ptr) = mapped(&process, GRANULE);
    process.memset_d8_async(ptr, 7, GRANULE, Stream::NULL).unwrap();
    assert_eq!(unmap_reported(&process, ptr), a_fill_was_overtaken());
}

#[test]
fn an_unmap_after_work_that_ran_by_luck_is_reported_too() {
    let (process, _, ptr) = lucky();
    assert_eq!(read(&process, ptr, 1), [7], "it has run");
    assert_eq!(unmap_reported(&process, ptr), a_fill_was_overtaken());
}

/// A way to learn that work has ended.
type See = fn(&SimProcess, Stream) -> peermap_driver::Result<()>;

#[test]
fn what_a_synchronisation_has_seen_through_is_not_reported() {
    let by_stream: See = |process, stream| process.stream_synchronize(stream);
    let by_context: See = |process, _| process.ctx_synchronize();
    let by_asking: See = |process, stream| process.stream_query(stream);
    let by_a_free: See = |process, _| process.mem_free(DevicePtr::NULL);
    for see in [by_stream, by_context, by_asking, by_a_free] {
        let (process, stream, ptr) = lucky();
        see(&process, stream).unwrap();
        assert_eq!(unmap_reported(&process, ptr), []);
    }
}

#[test]
fn an_event_behind_the_work_sees_it_through_and_one_before_it_does_not() {
    for (recorded_after, expected) in [(true, vec![]), (false, a_fill_was_overtaken())] {
        let process = in_context(&machine_with(Policy::Measured, Grace::Calls(2)));
        let (_, ptr) = mapped(&process, GRANULE);
        let stream = process.stream_create(NON_BLOCKING).unwrap();
        let (before, after) = (process.event_create(0).unwrap(), process.event_create(0).unwrap());
        process.event_record(before, stream).unwrap();
        process.memset_d8_async(ptr, 7, GRANULE, stream).unwrap();
        process.event_record(after, stream).unwrap();
        (0..8).for_each(|_| assert_eq!(process.ctx_get_device(), Ok(Device(0))));
        process.event_synchronize(if recorded_after { after } else { before }).unwrap();
        assert_eq!(unmap_reported(&process, ptr), expected);
    }
}

#[test]
fn work_that_was_reported_is_not_reported_of_what_is_mapped_there_next() {
    let (process, _, ptr) = lucky();
    assert_eq!(unmap_reported(&process, ptr), a_fill_was_overtaken());
    let next = create(&process, 0, GRANULE);
    process.mem_map(ptr, GRANULE, ByteSize::ZERO, next, 0).unwrap();
    assert_eq!(unmap_reported(&process, ptr), a_fill_was_overtaken());
}

#[test]
fn the_wait_for_another_stream_sees_nothing_through() {
    let (process, _, ptr) = lucky();
    let other = process.stream_create(NON_BLOCKING).unwrap();
    process.stream_synchronize(other).unwrap();
    process.stream_synchronize(Stream::NULL).unwrap();
    assert_eq!(unmap_reported(&process, ptr), a_fill_was_overtaken());
}

#[test]
fn the_clock_of_separate_work_is_no_synchronisation() {
    let grace = Duration::from_millis(5);
    let process = in_context(&machine_with(Policy::Measured, Grace::Wall(grace)));
    let (_, ptr) = mapped(&process, GRANULE);
    let stream = process.stream_create(NON_BLOCKING).unwrap();
    process.memset_d8_async(ptr, 7, GRANULE, stream).unwrap();
    while read(&process, ptr, 1) != [7] {
        std::thread::sleep(grace);
    }
    assert_eq!(unmap_reported(&process, ptr), a_fill_was_overtaken());
}

#[test]
fn work_before_a_mark_that_others_may_wait_for_is_given_the_benefit_of_the_doubt() {
    let process = in_context(&machine_with(Policy::Measured, Grace::Calls(3)));
    let (_, ptr) = mapped(&process, GRANULE);
    let event = process.event_create(INTERPROCESS).unwrap();
    process.ipc_get_event_handle(event).unwrap();
    process.memset_d8_async(ptr, 7, GRANULE, Stream::NULL).unwrap();
    process.event_record(event, Stream::NULL).unwrap();
    (0..8).for_each(|_| assert_eq!(process.ctx_get_device(), Ok(Device(0))));
    assert_eq!(unmap_reported(&process, ptr), []);
}

#[test]
fn rights_that_go_are_reported_where_the_work_needs_them() {
    let process = in_context(&machine());
    let (_, ptr) = mapped(&process, GRANULE);
    process.mem_set_access(ptr, GRANULE, &[AccessDesc::read_write(1)]).unwrap();
    process.memset_d8_async(ptr, 7, GRANULE, Stream::NULL).unwrap();
    let take = |ordinal| [AccessDesc { location: Location::device(ordinal), flags: AccessFlags::READ }];
    process.mem_set_access(ptr, GRANULE, &take(1)).unwrap();
    assert_eq!(reports(&process), [], "the work is not of that device");
    process.mem_set_access(ptr, GRANULE, &take(0)).unwrap();
    assert_eq!(reports(&process), [("ACCESS-8", "cuMemSetAccess".to_owned(), "cuMemsetD8Async")]);
}

/// A process with memory, and another one that has it open.
fn opened(machine: &SimMachine) -> (SimProcess, DevicePtr, SimProcess, DevicePtr) {
    let (owner, opener) = (in_context(machine), process(machine));
    let memory = owner.mem_alloc(GRANULE).unwrap();
    let handle = owner.ipc_get_mem_handle(memory).unwrap();
    opener.ctx_create(0, Device(0)).unwrap();
    let opened = opener.ipc_open_mem_handle(&handle, IpcMemHandle::LAZY_ENABLE_PEER_ACCESS).unwrap();
    (owner, memory, opener, opened)
}

#[test]
fn a_free_of_what_another_process_has_open_is_reported_with_both_calls() {
    let (owner, memory, _opener, _) = opened(&machine());
    owner.mem_free(memory).unwrap();
    assert_eq!(reports(&owner), [("ALLOC-4", "cuMemFree".to_owned(), "cuIpcOpenMemHandle")]);
}

#[test]
fn a_free_of_what_was_closed_or_whose_opener_has_gone_is_not_reported() {
    let (owner, memory, opener, address) = opened(&machine());
    opener.ipc_close_mem_handle(address).unwrap();
    owner.mem_free(memory).unwrap();
    assert_eq!(reports(&owner), []);
    let (owner, memory, opener, _) = opened(&machine());
    drop(opener);
    owner.mem_free(memory).unwrap();
    assert_eq!(reports(&owner), []);
}
