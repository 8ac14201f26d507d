//! What waits wait for, what queries see, and when work runs that nobody waits for.

use std::time::{Duration, Instant};

use peermap_driver::{ByteSize, CuResult, DevicePtr, Driver, PinnedBuffer, Stream};
use peermap_model::{Grace, Policy};
use peermap_sim::SimProcess;

use crate::support::{GRANULE, create, in_context, machine, machine_with, map, mapped, read, refusal, rule};

const NON_BLOCKING: u32 = 1;
const NO_TIMING: u32 = 2;

fn with_grace(grace: Grace) -> (SimProcess, DevicePtr) {
    let process = in_context(&machine_with(Policy::Measured, grace));
    let (_, ptr) = mapped(&process, GRANULE);
    (process, ptr)
}

#[test]
fn a_wait_for_a_stream_leaves_other_streams_alone() {
    let (process, ptr) = with_grace(Grace::Never);
    let [one, two] = [0; 2].map(|_| process.stream_create(NON_BLOCKING).unwrap());
    process.memset_d8_async(ptr, 1, GRANULE, one).unwrap();
    process.memset_d8_async(ptr, 2, GRANULE, two).unwrap();
    assert_eq!(refusal(process.stream_query(one)), ("STREAM-3", Some(CuResult::NOT_READY)));
    process.stream_synchronize(one).unwrap();
    assert_eq!(process.stream_query(one), Ok(()));
    assert_eq!(rule(process.stream_query(two)), "STREAM-3");
    process.ctx_synchronize().unwrap();
    assert_eq!(process.stream_query(two), Ok(()));
}

#[test]
fn a_blocking_copy_waits_for_the_null_stream_and_not_for_a_non_blocking_one() {
    let (process, ptr) = with_grace(Grace::Never);
    let stream = process.stream_create(NON_BLOCKING).unwrap();
    process.memset_d8_async(ptr, 7, GRANULE, stream).unwrap();
    assert_eq!(read(&process, ptr, 1), [0]);
    process.memset_d8(ptr, 5, GRANULE).unwrap();
    assert_eq!(read(&process, ptr, 1), [5]);
    process.stream_synchronize(stream).unwrap();
    assert_eq!(read(&process, ptr, 1), [7]);
}

#[test]
fn a_pinned_buffer_is_copied_when_its_stream_is_waited_for() {
    let (process, ptr) = with_grace(Grace::Never);
    let stream = process.stream_create(NON_BLOCKING).unwrap();
    let mut out = PinnedBuffer::zeroed(&process, 100).unwrap();
    out.bytes_mut().fill(9);
    let sent = out.copy_to(ptr, stream).unwrap();
    let received = PinnedBuffer::zeroed(&process, 100).unwrap().copy_from(ptr, stream).unwrap();
    assert_eq!(received.wait().unwrap().bytes(), [9; 100]);
    assert_eq!(sent.wait().unwrap().bytes(), [9; 100]);
}

#[test]
fn an_event_is_done_without_a_mark_and_after_its_work() {
    let (process, ptr) = with_grace(Grace::Never);
    let event = process.event_create(0).unwrap();
    assert_eq!((process.event_query(event), process.event_synchronize(event)), (Ok(()), Ok(())));
    process.memset_d8(ptr, 3, GRANULE).unwrap();
    process.event_record(event, Stream::NULL).unwrap();
    assert_eq!(refusal(process.event_query(event)), ("EVENT-3", Some(CuResult::NOT_READY)));
    process.event_synchronize(event).unwrap();
    assert_eq!(process.event_query(event), Ok(()));
    process.event_record(event, Stream::NULL).unwrap();
    assert_eq!(rule(process.event_query(event)), "EVENT-3");
}

#[test]
fn an_event_waits_for_the_work_before_it_only() {
    let (process, ptr) = with_grace(Grace::Never);
    let stream = process.stream_create(NON_BLOCKING).unwrap();
    let event = process.event_create(NO_TIMING).unwrap();
    process.memset_d8_async(ptr, 1, GRANULE, stream).unwrap();
    process.event_record(event, stream).unwrap();
    process.memset_d8_async(ptr, 2, GRANULE, stream).unwrap();
    process.event_synchronize(event).unwrap();
    assert_eq!(read(&process, ptr, 1), [1]);
    assert_eq!(rule(process.stream_query(stream)), "STREAM-3");
}

#[test]
fn the_time_between_two_marks_needs_both_with_timing_and_passed() {
    let (process, ptr) = with_grace(Grace::Never);
    let [start, end] = [0; 2].map(|_| process.event_create(0).unwrap());
    let untimed = process.event_create(NO_TIMING).unwrap();
    process.event_record(start, Stream::NULL).unwrap();
    assert_eq!(refusal(process.event_elapsed_time(start, end)), ("EVENT-4", Some(CuResult::INVALID_HANDLE)));
    process.memset_d8(ptr, 1, GRANULE).unwrap();
    process.event_record(end, Stream::NULL).unwrap();
    process.event_record(untimed, Stream::NULL).unwrap();
    assert_eq!(refusal(process.event_elapsed_time(start, end)), ("EVENT-3", Some(CuResult::NOT_READY)));
    process.ctx_synchronize().unwrap();
    assert!(process.event_elapsed_time(start, end).unwrap() > 0.0);
    assert!(process.event_elapsed_time(end, start).unwrap() < 0.0);
    assert_eq!(process.event_elapsed_time(start, start), Ok(0.0));
    assert_eq!(rule(process.event_elapsed_time(start, untimed)), "EVENT-4");
    process.event_record(end, Stream::NULL).unwrap();
    assert_eq!(rule(process.event_elapsed_time(start, end)), "EVENT-3", "a new mark has not passed");
}

#[test]
fn what_was_destroyed_is_no_stream_and_no_event() {
    let (process, _) = with_grace(Grace::Never);
    let stream = process.stream_create(0).unwrap();
    let event = process.event_create(0).unwrap();
    process.stream_destroy(stream).unwrap();
    process.event_destroy(event).unwrap();
    let gone = ("STREAM-2", Some(CuResult::INVALID_HANDLE));
    assert_eq!(refusal(process.stream_destroy(stream)), gone);
    assert_eq!(refusal(process.stream_query(stream)), gone);
    assert_eq!(refusal(process.stream_synchronize(stream)), gone);
    assert_eq!(refusal(process.stream_wait_event(stream, event, 0)), gone);
    let gone = ("EVENT-2", Some(CuResult::INVALID_HANDLE));
    assert_eq!(refusal(process.event_destroy(event)), gone);
    assert_eq!(refusal(process.event_query(event)), gone);
    assert_eq!(refusal(process.event_synchronize(event)), gone);
    assert_eq!(refusal(process.event_record(event, Stream::NULL)), gone);
    assert_eq!(refusal(process.stream_wait_event(Stream::NULL, event, 0)), gone);
    assert_eq!(refusal(process.event_elapsed_time(event, event)), gone);
}

#[test]
fn flags_that_do_not_exist_are_refused() {
    let (process, _) = with_grace(Grace::Never);
    let refused = |rule| (rule, Some(CuResult::INVALID_VALUE));
    assert_eq!(refusal(process.stream_create(2)), refused("STREAM-1"));
    assert_eq!(refusal(process.event_create(8)), refused("EVENT-1"));
    assert_eq!(refusal(process.event_create(4)), refused("EVENT-1"));
    assert!(process.event_create(4 | NO_TIMING).is_ok());
}

#[test]
fn a_grace_of_five_calls_is_five_calls() {
    let (process, ptr) = with_grace(Grace::Calls(5));
    let event = process.event_create(NO_TIMING).unwrap();
    process.memset_d8(ptr, 1, GRANULE).unwrap();
    process.event_record(event, Stream::NULL).unwrap();
    let refused = std::iter::repeat_with(|| process.event_query(event)).take_while(Result::is_err).count();
    assert_eq!(refused, 5);
}

#[test]
fn the_longest_grace_does_not_overflow() {
    let (process, ptr) = with_grace(Grace::Calls(u64::MAX));
    process.memset_d8(ptr, 1, GRANULE).unwrap();
    assert_eq!(rule(process.stream_query(Stream::NULL)), "STREAM-3");
}

#[test]
fn without_grace_nothing_runs_that_nobody_waits_for() {
    let (process, ptr) = with_grace(Grace::Never);
    process.memset_d8(ptr, 1, GRANULE).unwrap();
    assert!((0..10_000).all(|_| process.stream_query(Stream::NULL).is_err()));
}

#[test]
fn a_grace_of_time_ends_by_itself() {
    let (process, ptr) = with_grace(Grace::Wall(Duration::from_millis(1)));
    process.memset_d8(ptr, 1, GRANULE).unwrap();
    let give_up = Instant::now() + Duration::from_secs(60);
    while process.stream_query(Stream::NULL).is_err() {
        assert!(Instant::now() < give_up, "the work never ran");
        std::thread::yield_now();
    }
    assert_eq!(read(&process, ptr, 1), [1]);
}

#[test]
fn a_hundred_queries_are_as_good_as_a_grace_of_time() {
    let (process, ptr) = with_grace(Grace::Wall(Duration::from_secs(3600)));
    process.memset_d8(ptr, 1, GRANULE).unwrap();
    let event = process.event_create(NO_TIMING).unwrap();
    process.event_record(event, Stream::NULL).unwrap();
    assert!((0..50).all(|_| process.stream_query(Stream::NULL).is_err() && process.event_query(event).is_err()));
    assert_eq!(process.event_query(event), Ok(()));
}

#[test]
fn a_fault_of_overdue_work_does_not_spoil_the_call_that_ran_it() {
    let machine = machine_with(Policy::Measured, Grace::Calls(2));
    let process = in_context(&machine);
    let (_, ptr) = mapped(&process, GRANULE);
    process.memset_d8(ptr, 1, GRANULE).unwrap();
    process.mem_unmap(ptr, GRANULE).unwrap();
    let handle = create(&process, 0, GRANULE);
    assert_eq!(rule(process.ctx_synchronize()), "FAULT-1", "the work had run by then");
    process.mem_release(handle).unwrap();
}

#[test]
fn threads_that_wait_for_the_same_work_all_come_back() {
    let process = in_context(&machine());
    let size = ByteSize::mib(64);
    let ptr = map(&process, create(&process, 0, size), size);
    let stream = process.stream_create(NON_BLOCKING).unwrap();
    let event = process.event_create(NO_TIMING).unwrap();
    for value in 0..8 {
        process.memset_d8_async(ptr, value, size, stream).unwrap();
    }
    process.event_record(event, stream).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| process.event_synchronize(event).unwrap());
        }
    });
    assert_eq!(read(&process, ptr, 2), [7, 7]);
}
