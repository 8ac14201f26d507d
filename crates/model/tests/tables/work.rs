//! Streams, events, and items of work.

use peermap_driver::{Call, CuResult, DevicePtr, Event as EventHandle, Stream};
use peermap_model::{Plan, Wait, WorkFault};

use crate::bench::{Bench, GRANULE, THREAD};
use crate::{Event, State, assert_table, table};

/// A stream and an event, and another event with a mark that has passed.
struct Subject {
    stream: Stream,
    event: EventHandle,
    passed: EventHandle,
}

fn record(bench: &mut Bench, event: EventHandle, stream: Stream) -> peermap_driver::Result<()> {
    bench.call(Call::cuEventRecord, |process, out| process.event_record(out, THREAD, event, stream))
}

fn fresh_with(bench: &mut Bench, flags: u32) -> Subject {
    let subject = Subject { stream: bench.stream(), event: bench.event(flags), passed: bench.event(0) };
    record(bench, subject.passed, Stream::NULL).unwrap();
    bench.drain();
    subject
}

fn fresh(bench: &mut Bench) -> Subject {
    fresh_with(bench, 0)
}

fn pending(bench: &mut Bench) -> Subject {
    let subject = fresh(bench);
    record(bench, subject.event, subject.stream).unwrap();
    subject
}

fn passed(bench: &mut Bench) -> Subject {
    let subject = pending(bench);
    bench.drain();
    subject
}

fn destroy_stream(bench: &mut Bench, stream: Stream) -> peermap_driver::Result<()> {
    bench.call(Call::cuStreamDestroy, |process, outside| process.stream_destroy(outside, THREAD, stream))
}

fn destroy_event(bench: &mut Bench, event: EventHandle) -> peermap_driver::Result<()> {
    bench.call(Call::cuEventDestroy, |process, out| process.event_destroy(out, THREAD, event))
}

#[test]
fn streams() {
    const STATES: &[State<Subject>] = &[
        ("idle", fresh),
        ("pending", pending),
        ("ended", passed),
        ("destroyed", |bench| {
            let subject = fresh(bench);
            destroy_stream(bench, subject.stream).unwrap();
            subject
        }),
        ("destroyed-pending", |bench| {
            let subject = pending(bench);
            destroy_stream(bench, subject.stream).unwrap();
            subject
        }),
    ];
    const EVENTS: &[Event<Subject>] = &[
        ("query", |bench, subject| {
            bench.call(Call::cuStreamQuery, |process, _| process.stream_query(THREAD, subject.stream))
        }),
        ("sync", |bench, subject| {
            let call = Call::cuStreamSynchronize;
            bench.call(call, |process, _| process.stream_synchronize(THREAD, subject.stream)).map(|_| ())
        }),
        ("wait", |bench, subject| {
            let (stream, event) = (subject.stream, subject.passed);
            bench.call(Call::cuStreamWaitEvent, |process, out| process.stream_wait_event(out, THREAD, stream, event))
        }),
        ("record", |bench, subject| record(bench, subject.passed, subject.stream)),
        ("destroy", |bench, subject| destroy_stream(bench, subject.stream)),
    ];
    assert_table(
        &table(STATES, EVENTS),
        "
                          query       sync        wait        record      destroy
        idle              ok          ok          ok          ok          ok
        pending           STREAM-3    ok          ok          ok          ok
        ended             ok          ok          ok          ok          ok
        destroyed         STREAM-2    STREAM-2    STREAM-2    STREAM-2    STREAM-2
        destroyed-pending STREAM-2    STREAM-2    STREAM-2    STREAM-2    STREAM-2
",
    );
}

#[test]
fn events() {
    const STATES: &[State<Subject>] = &[
        ("no-mark", fresh),
        ("no-timing", |bench| {
            let subject = fresh_with(bench, 2);
            record(bench, subject.event, subject.stream).unwrap();
            bench.drain();
            subject
        }),
        ("pending", pending),
        ("passed", passed),
        ("pending-again", |bench| {
            let subject = passed(bench);
            record(bench, subject.event, subject.stream).unwrap();
            subject
        }),
        ("stream-destroyed", |bench| {
            let subject = pending(bench);
            destroy_stream(bench, subject.stream).unwrap();
            Subject { stream: Stream::NULL, ..subject }
        }),
        ("destroyed", |bench| {
            let subject = pending(bench);
            destroy_event(bench, subject.event).unwrap();
            subject
        }),
    ];
    const EVENTS: &[Event<Subject>] = &[
        ("query", |bench, subject| {
            bench.call(Call::cuEventQuery, |process, out| process.event_query(out, subject.event))
        }),
        ("sync", |bench, subject| {
            let call = Call::cuEventSynchronize;
            bench.call(call, |process, out| process.event_synchronize(out, subject.event)).map(|_| ())
        }),
        ("elapsed", |bench, subject| {
            let (start, end) = (subject.passed, subject.event);
            bench.call(Call::cuEventElapsedTime, |process, _| process.event_elapsed_time(start, end)).map(|_| ())
        }),
        ("wait", |bench, subject| {
            let event = subject.event;
            bench.call(Call::cuStreamWaitEvent, |process, out| {
                process.stream_wait_event(out, THREAD, Stream::NULL, event)
            })
        }),
        ("record", |bench, subject| record(bench, subject.event, subject.stream)),
        ("destroy", |bench, subject| destroy_event(bench, subject.event)),
    ];
    assert_table(
        &table(STATES, EVENTS),
        "
                         query       sync        elapsed     wait        record      destroy
        no-mark          ok          ok          EVENT-4     ok          ok          ok
        no-timing        ok          ok          EVENT-4     ok          ok          ok
        pending          EVENT-3     ok          EVENT-3     ok          ok          ok
        passed           ok          ok          ok          ok          ok          ok
        pending-again    EVENT-3     ok          EVENT-3     ok          ok          ok
        stream-destroyed EVENT-3     ok          EVENT-3     ok          ok          ok
        destroyed        EVENT-2     EVENT-2     EVENT-2     EVENT-2     EVENT-2     EVENT-2
",
    );
}

/// What a plan for everything has to do next.
fn next(bench: &mut Bench, plan: &mut Plan) -> &'static str {
    match bench.process.next_work(plan) {
        Ok(Some(_)) => "run",
        Ok(None) => "done",
        Err(()) => "others-run",
    }
}

fn everything(bench: &mut Bench) -> Plan {
    bench.process.plan(&Wait::Everything)
}

fn a_fault() -> WorkFault {
    WorkFault { result: CuResult::ILLEGAL_ADDRESS, address: Some(DevicePtr::new(1)), what: "a store".to_owned() }
}

#[test]
fn an_item_is_queued_runs_once_and_ends() {
    let mut bench = Bench::new();
    let (stream, event) = (bench.stream(), bench.event(0));
    let mut empty = everything(&mut bench);
    assert_eq!(next(&mut bench, &mut empty), "done");
    record(&mut bench, event, stream).unwrap();
    let (mut first, mut second) = (everything(&mut bench), everything(&mut bench));
    let work = bench.process.next_work(&mut first).unwrap().unwrap();
    assert_eq!((next(&mut bench, &mut first), next(&mut bench, &mut second)), ("others-run", "others-run"));
    bench.finish(&work, Ok(5));
    assert_eq!((next(&mut bench, &mut first), next(&mut bench, &mut second)), ("done", "done"));
    bench.finish(&work, Ok(6));
    assert!(!bench.process.has_work(), "a second end is none");
}

#[test]
fn an_item_waits_for_what_comes_before_it() {
    let mut bench = Bench::new();
    let (stream, event) = (bench.stream(), bench.event(0));
    record(&mut bench, event, stream).unwrap();
    record(&mut bench, event, stream).unwrap();
    let mut plan = everything(&mut bench);
    let first = bench.process.next_work(&mut plan).unwrap().unwrap();
    assert_eq!(next(&mut bench, &mut plan), "others-run");
    bench.finish(&first, Ok(1));
    assert_eq!(next(&mut bench, &mut plan), "run");
}

#[test]
fn after_a_fault_what_is_queued_is_forgotten_and_what_runs_is_waited_for() {
    let mut bench = Bench::new();
    let event = bench.event(0);
    let [one, two, three] = [0; 3].map(|_| bench.stream());
    for stream in [one, two, three] {
        record(&mut bench, event, stream).unwrap();
    }
    let mut plan = everything(&mut bench);
    let [faulting, running] = [0; 2].map(|_| bench.process.next_work(&mut plan).unwrap().unwrap());
    bench.finish(&faulting, Err(a_fault()));
    assert_eq!(bench.process.check_fault().unwrap_err().rule().unwrap().0, "FAULT-1");
    assert_eq!(next(&mut bench, &mut plan), "others-run", "it may use memory that its caller would free");
    bench.finish(&running, Ok(1));
    assert_eq!(next(&mut bench, &mut plan), "done", "the third never runs");
    assert!(!bench.process.has_work());
}

#[test]
fn abandoned_work_does_not_run_and_what_runs_is_waited_for() {
    let mut bench = Bench::new();
    let event = bench.event(0);
    let [one, two] = [0; 2].map(|_| bench.stream());
    record(&mut bench, event, one).unwrap();
    record(&mut bench, event, two).unwrap();
    let mut plan = everything(&mut bench);
    let running = bench.process.next_work(&mut plan).unwrap().unwrap();
    bench.within(|process, out| process.abandon_work(out)).unwrap();
    assert_eq!(next(&mut bench, &mut plan), "others-run");
    bench.finish(&running, Ok(1));
    assert_eq!(next(&mut bench, &mut plan), "done");
    assert_eq!(bench.process.check_fault(), Ok(()));
}

#[test]
fn the_first_fault_is_the_one_that_is_told() {
    let mut bench = Bench::new();
    let event = bench.event(0);
    let [one, two] = [0; 2].map(|_| bench.stream());
    record(&mut bench, event, one).unwrap();
    record(&mut bench, event, two).unwrap();
    let mut plan = everything(&mut bench);
    let [first, second] = [0; 2].map(|_| bench.process.next_work(&mut plan).unwrap().unwrap());
    bench.finish(&first, Err(a_fault()));
    bench.finish(&second, Err(WorkFault { result: CuResult::MISALIGNED_ADDRESS, ..a_fault() }));
    assert_eq!(bench.process.check_fault().unwrap_err().result(), Some(CuResult::ILLEGAL_ADDRESS));
}

/// Whether the first of two fills of some memory is one piece with the second.
fn is_piece(bench: &mut Bench, ptr: DevicePtr) -> bool {
    let stream = bench.stream();
    for value in 0..2 {
        bench.call(Call::cuMemsetD8Async, |process, _| process.memset_d8(THREAD, ptr, value, GRANULE, stream)).unwrap();
    }
    let work = bench.begin();
    bench.finish(&work, Ok(1));
    bench.drain();
    work.in_piece
}

#[test]
fn only_several_items_on_memory_that_others_may_have_are_a_piece() {
    let mut bench = Bench::new();
    let ptr = bench.call(Call::cuMemAlloc, |process, out| process.mem_alloc(out, THREAD, GRANULE)).unwrap();
    assert!(!is_piece(&mut bench, ptr), "nobody else can open it");
    bench.call(Call::cuIpcGetMemHandle, |process, out| process.ipc_get_mem_handle(out, THREAD, ptr)).unwrap();
    assert!(is_piece(&mut bench, ptr));
    let stream = bench.stream();
    bench.call(Call::cuMemsetD8Async, |process, _| process.memset_d8(THREAD, ptr, 1, GRANULE, stream)).unwrap();
    assert!(!bench.begin().in_piece, "one item has nothing behind it");
}
