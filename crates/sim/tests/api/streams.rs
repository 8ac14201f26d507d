//! The order of work: streams, the null stream, events.
//!
//! Every queue below fills the same bytes; the value that is there in the end tells what ran last.

use std::collections::BTreeSet;

use peermap_driver::{DevicePtr, Driver, Event, Stream};
use peermap_model::{Grace, Policy};
use peermap_sim::SimProcess;

use crate::support::{GRANULE, in_context, machine, machine_with, mapped, read};

const BLOCKING: u32 = 0;
const NON_BLOCKING: u32 = 1;
const NO_TIMING: u32 = 2;

/// A process that fills one granule.
struct Bench {
    process: SimProcess,
    ptr: DevicePtr,
}

impl Bench {
    fn stream(&self, flags: u32) -> Stream {
        self.process.stream_create(flags).unwrap()
    }

    fn event(&self) -> Event {
        self.process.event_create(NO_TIMING).unwrap()
    }

    fn fill(&self, stream: Stream, value: u8) {
        self.process.memset_d8_async(self.ptr, value, GRANULE, stream).unwrap();
    }

    fn record(&self, event: Event, stream: Stream) {
        self.process.event_record(event, stream).unwrap();
    }

    fn wait(&self, stream: Stream, event: Event) {
        self.process.stream_wait_event(stream, event, 0).unwrap();
    }
}

fn last(policy: Policy, queue: impl Fn(&Bench)) -> u8 {
    let process = in_context(&machine_with(policy, Grace::Never));
    let (_, ptr) = mapped(&process, GRANULE);
    let bench = Bench { process, ptr };
    queue(&bench);
    bench.process.ctx_synchronize().unwrap();
    read(&bench.process, ptr, 1)[0]
}

/// Every value that can be the last, and the one that the measured policy makes the last: that of the last call.
fn outcomes(queue: impl Fn(&Bench)) -> (BTreeSet<u8>, u8) {
    let hostile = (0..48).map(|seed| last(Policy::Hostile { seed }, &queue)).collect();
    (hostile, last(Policy::Measured, &queue))
}

fn only(value: u8) -> (BTreeSet<u8>, u8) {
    (BTreeSet::from([value]), value)
}

fn either(one: u8, measured: u8) -> (BTreeSet<u8>, u8) {
    (BTreeSet::from([one, measured]), measured)
}

#[test]
fn one_stream_runs_in_order() {
    for flags in [BLOCKING, NON_BLOCKING] {
        let got = outcomes(|bench| {
            let stream = bench.stream(flags);
            bench.fill(stream, 1);
            bench.fill(stream, 2);
        });
        assert_eq!(got, only(2));
    }
}

#[test]
fn two_streams_run_in_any_order() {
    for (one, two) in [(NON_BLOCKING, NON_BLOCKING), (BLOCKING, BLOCKING), (BLOCKING, NON_BLOCKING)] {
        let got = outcomes(|bench| {
            bench.fill(bench.stream(one), 1);
            bench.fill(bench.stream(two), 2);
        });
        assert_eq!(got, either(1, 2));
    }
}

#[test]
fn the_null_stream_and_a_blocking_stream_wait_for_each_other() {
    let null_first = outcomes(|bench| {
        let stream = bench.stream(BLOCKING);
        bench.fill(Stream::NULL, 1);
        bench.fill(stream, 2);
    });
    assert_eq!(null_first, only(2));
    let null_last = outcomes(|bench| {
        bench.fill(bench.stream(BLOCKING), 1);
        bench.fill(Stream::NULL, 2);
    });
    assert_eq!(null_last, only(2));
}

#[test]
fn the_null_stream_and_a_non_blocking_stream_do_not() {
    let null_first = outcomes(|bench| {
        bench.fill(Stream::NULL, 1);
        bench.fill(bench.stream(NON_BLOCKING), 2);
    });
    assert_eq!(null_first, either(1, 2));
    let null_last = outcomes(|bench| {
        bench.fill(bench.stream(NON_BLOCKING), 1);
        bench.fill(Stream::NULL, 2);
    });
    assert_eq!(null_last, either(1, 2));
}

#[test]
fn the_null_stream_orders_two_blocking_streams() {
    let got = outcomes(|bench| {
        bench.fill(bench.stream(BLOCKING), 1);
        bench.fill(Stream::NULL, 2);
        bench.fill(bench.stream(BLOCKING), 3);
    });
    assert_eq!(got, only(3));
}

#[test]
fn a_destroyed_stream_keeps_its_place_before_the_null_stream() {
    let got = outcomes(|bench| {
        let stream = bench.stream(BLOCKING);
        bench.fill(stream, 1);
        bench.process.stream_destroy(stream).unwrap();
        bench.fill(Stream::NULL, 2);
    });
    assert_eq!(got, only(2));
}

#[test]
fn a_wait_for_an_event_orders_two_streams() {
    let got = outcomes(|bench| {
        let (one, two, event) = (bench.stream(NON_BLOCKING), bench.stream(NON_BLOCKING), bench.event());
        bench.fill(one, 1);
        bench.record(event, one);
        bench.wait(two, event);
        bench.fill(two, 2);
    });
    assert_eq!(got, only(2));
}

#[test]
fn a_wait_lasts_though_the_event_is_destroyed() {
    let got = outcomes(|bench| {
        let (one, two, event) = (bench.stream(NON_BLOCKING), bench.stream(NON_BLOCKING), bench.event());
        bench.fill(one, 1);
        bench.record(event, one);
        bench.wait(two, event);
        bench.process.event_destroy(event).unwrap();
        bench.fill(two, 2);
    });
    assert_eq!(got, only(2));
}

#[test]
fn a_wait_is_for_the_mark_at_the_time_of_the_wait() {
    let recorded_later = outcomes(|bench| {
        let (one, two, event) = (bench.stream(NON_BLOCKING), bench.stream(NON_BLOCKING), bench.event());
        bench.record(event, one);
        bench.wait(two, event);
        bench.fill(one, 1);
        bench.record(event, one);
        bench.fill(two, 2);
    });
    assert_eq!(recorded_later, either(1, 2));
    let recorded_again = outcomes(|bench| {
        let (one, two, event) = (bench.stream(NON_BLOCKING), bench.stream(NON_BLOCKING), bench.event());
        bench.record(event, one);
        bench.fill(one, 1);
        bench.record(event, one);
        bench.wait(two, event);
        bench.fill(two, 2);
    });
    assert_eq!(recorded_again, only(2));
}

#[test]
fn a_wait_for_an_event_without_a_mark_is_none() {
    let got = outcomes(|bench| {
        let (one, two, event) = (bench.stream(NON_BLOCKING), bench.stream(NON_BLOCKING), bench.event());
        bench.fill(one, 1);
        bench.wait(two, event);
        bench.fill(two, 2);
    });
    assert_eq!(got, either(1, 2));
}

#[test]
fn streams_of_two_contexts_know_nothing_of_each_other() {
    let got = outcomes(|bench| {
        bench.fill(Stream::NULL, 1);
        let first = bench.process.ctx_get_current().unwrap();
        let second = bench.process.ctx_create(0, peermap_driver::Device(0)).unwrap();
        bench.fill(Stream::NULL, 2);
        bench.process.ctx_push_current(first.unwrap()).unwrap();
        let event = bench.event();
        bench.process.ctx_set_current(Some(second)).unwrap();
        bench.process.ctx_synchronize().unwrap();
        bench.process.event_synchronize(event).unwrap();
        bench.process.ctx_set_current(first).unwrap();
    });
    assert_eq!(got, only(1));
}

#[test]
fn a_device_copy_is_in_order_too() {
    let process = in_context(&machine());
    let (_, src) = mapped(&process, GRANULE);
    let (_, dst) = mapped(&process, GRANULE);
    let stream = process.stream_create(NON_BLOCKING).unwrap();
    process.memset_d8_async(src, 7, GRANULE, stream).unwrap();
    process.memcpy_dtod_async(dst, src, GRANULE, stream).unwrap();
    process.memset_d8_async(src, 8, GRANULE, stream).unwrap();
    process.stream_synchronize(stream).unwrap();
    assert_eq!((read(&process, src, 2), read(&process, dst, 2)), (vec![8, 8], vec![7, 7]));
}
