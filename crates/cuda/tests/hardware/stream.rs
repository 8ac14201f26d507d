//! Streams, events, and copies in order with a stream.

use peermap_driver::{ByteSize, CuResult, Driver, PinnedBuffer};

use crate::rig::{Current, GRANULE, Mapped, at, driver, holds, refused};

/// A stream that does not wait for the null stream.
const NON_BLOCKING: u32 = 1;
/// An event that takes no time.
const NO_TIMING: u32 = 2;

/// Trace legacy, streams.
pub fn an_event_marks_the_work_of_its_stream() {
    let _context = Current::new();
    let memory = Mapped::new(GRANULE);
    let driver = driver();
    let stream = driver.stream_create(NON_BLOCKING).expect("a stream");
    let other = driver.stream_create(NON_BLOCKING).expect("a stream");
    let event = driver.event_create(0).expect("an event");
    assert_eq!(driver.event_query(event), Ok(()), "an event without a mark is done");

    assert_eq!(driver.memset_d8_async(memory.ptr, 7, GRANULE, stream), Ok(()));
    assert_eq!(driver.event_record(event, stream), Ok(()));
    assert_eq!(driver.stream_wait_event(other, event, 0), Ok(()));
    let half = GRANULE.get() / 2;
    assert_eq!(driver.memcpy_dtod_async(at(memory.ptr, half), memory.ptr, ByteSize::new(half), other), Ok(()));
    assert_eq!(driver.stream_synchronize(other), Ok(()));
    assert_eq!(driver.event_synchronize(event), Ok(()));
    assert_eq!(driver.event_query(event), Ok(()));
    assert_eq!(driver.stream_query(stream), Ok(()));
    assert!(holds(memory.ptr, GRANULE, 7));

    assert_eq!(driver.event_destroy(event), Ok(()));
    assert_eq!(driver.stream_destroy(other), Ok(()));
    assert_eq!(driver.stream_destroy(stream), Ok(()));
}

/// Trace legacy, streams and ipc-events.
pub fn unknown_flags_are_refused() {
    let _context = Current::new();
    assert_eq!(driver().stream_create(7), refused(CuResult::INVALID_VALUE));
    assert_eq!(driver().event_create(4), refused(CuResult::INVALID_VALUE), "inter-process with timing");
}

pub fn time_passes_between_two_events() {
    let _context = Current::new();
    let memory = Mapped::new(GRANULE);
    let driver = driver();
    let stream = driver.stream_create(NON_BLOCKING).expect("a stream");
    let start = driver.event_create(0).expect("an event");
    let end = driver.event_create(0).expect("an event");
    assert_eq!(driver.event_record(start, stream), Ok(()));
    assert_eq!(driver.memset_d8_async(memory.ptr, 1, GRANULE, stream), Ok(()));
    assert_eq!(driver.event_record(end, stream), Ok(()));
    assert_eq!(driver.event_synchronize(end), Ok(()));
    let milliseconds = driver.event_elapsed_time(start, end).expect("a time");
    assert!(milliseconds > 0.0 && milliseconds < 10_000.0, "{milliseconds} ms for 2 MiB");

    assert_eq!(driver.event_destroy(start), Ok(()));
    assert_eq!(driver.event_destroy(end), Ok(()));
    assert_eq!(driver.stream_destroy(stream), Ok(()));
}

/// Trace legacy, ipc-events.
pub fn an_event_without_timing_gives_no_time() {
    let _context = Current::new();
    let driver = driver();
    let event = driver.event_create(NO_TIMING).expect("an event");
    assert_eq!(driver.event_record(event, peermap_driver::Stream::NULL), Ok(()));
    assert_eq!(driver.event_synchronize(event), Ok(()));
    assert_eq!(driver.event_elapsed_time(event, event), refused(CuResult::INVALID_HANDLE));
    assert_eq!(driver.event_destroy(event), Ok(()));
}

pub fn pinned_buffers_go_to_the_device_and_back() {
    let _context = Current::new();
    let memory = Mapped::new(GRANULE);
    let driver = driver();
    let stream = driver.stream_create(NON_BLOCKING).expect("a stream");
    let len = GRANULE.to_usize().expect("2 MiB");
    let mut out = PinnedBuffer::zeroed(driver, len).expect("page-locked memory");
    out.bytes_mut().iter_mut().zip((0..=250).cycle()).for_each(|(byte, value)| *byte = value);
    let out = out.copy_to(memory.ptr, stream).expect("a copy to the device").wait().expect("its end");

    let back = PinnedBuffer::zeroed(driver, len).expect("page-locked memory");
    let back = back.copy_from(memory.ptr, stream).expect("a copy to the host").wait().expect("its end");
    assert!(back.bytes() == out.bytes());
    assert_eq!(back.bytes()[..252].last(), Some(&0), "the pattern starts again after 251 bytes");

    drop((out, back));
    assert_eq!(driver.stream_destroy(stream), Ok(()));
}
