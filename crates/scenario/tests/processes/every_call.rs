//! Each call of a worker in turn: refused, and with its process killed before it and after it.

use std::time::Duration;

use peermap_driver::{Call, CuResult};
use peermap_report::{ExitCode, FailureKind};
use peermap_scenario::{Fill, Options, Scenario, VerifyOn};

use crate::backend::{SimBackend, memmap_ipc, options, play, pool_ipc, simple_ipc};
use crate::fault::Fault;
use crate::journal::now;
use crate::story::{self, Told};

/// A scenario, and what worker 1 of it does.
struct Case {
    scenario: Scenario,
    story: Vec<Told>,
    what: String,
}

/// Every scenario, and the main job also with work that is verified on the host.
fn cases() -> [Case; 4] {
    let ids = Options { fill: Some(Fill::Id), verify_on: VerifyOn::Device, ..options() };
    let pattern = Options { fill: Some(Fill::Pattern), verify_on: VerifyOn::Host, ..options() };
    let memmap = |options: &Options| case(memmap_ipc(options), story::of_worker(options.verify_on));
    let simple = |options: &Options| case(simple_ipc(options), story::of_simple_worker(options.verify_on));
    let pool = |options: &Options| case(pool_ipc(options), story::of_pool_worker(options.verify_on));
    [memmap(&ids), memmap(&pattern), simple(&ids), pool(&ids)]
}

fn case(scenario: Scenario, story: Vec<Told>) -> Case {
    Case { what: format!("{scenario:?}"), scenario, story }
}

/// The exit code that goes with a call that is refused with a code.
pub fn exit_code_of(call: Call, code: CuResult) -> ExitCode {
    match (call, code) {
        (Call::cuInit, _) => ExitCode::BackendUnavailable,
        (_, CuResult::LAUNCH_FAILED | CuResult::ILLEGAL_ADDRESS) => ExitCode::DeviceFault,
        _ => ExitCode::DriverError,
    }
}

pub fn a_worker_makes_the_calls_of_the_story() {
    for Case { scenario, story, what } in cases() {
        let backend = SimBackend::new("h200-x2");
        assert!(play(&scenario, &backend).0.unwrap().ok);
        let made: Vec<Call> = backend.journal().iter().map(|entry| entry.call).collect();
        let told: Vec<Call> = story.iter().map(|told| told.call).collect();
        assert_eq!(made, told, "{what}");
        backend.assert_nothing_is_left();
    }
}

/// A run in which a call of worker 1 is refused.
fn refuse(case: &Case, told: Told, code: CuResult) {
    let Told { number, call, step } = told;
    let what = format!("call {number}, {call}, is refused with {code}: {}", case.what);
    let backend = SimBackend::new("h200-x2").with_fault(Fault::RefuseNth(number, code));
    let report = play(&case.scenario, &backend).0.unwrap();
    assert!(!report.ok, "{what}");
    let failure = report.failure.clone().unwrap();
    assert_eq!((failure.worker, failure.pid), (Some(1), Some(report.workers[1].pid)), "{what}: {failure:?}");
    assert_eq!((failure.call.as_deref(), failure.step.as_deref()), (Some(call.name()), Some(step)), "{what}");
    assert!(failure.message.contains(&code.name()), "{what}: {}", failure.message);
    assert_eq!(report.exit_code(), exit_code_of(call, code), "{what}");
    // The timeout is a minute: it was not what ended the run.
    assert!(report.wall_ms < 30_000.0, "{what}: {} ms", report.wall_ms);
    assert_eq!(backend.journal().len(), number, "{what}: the worker went on");
    backend.assert_nothing_is_left();
}

/// A run for each call from `first` on, which is refused.
fn refuse_each(case: &Case, code: CuResult, first: Call) {
    case.story.iter().skip_while(|told| told.call != first).for_each(|told| refuse(case, *told, code));
}

pub fn each_call_refused_as_invalid_ends_the_run_and_is_named() {
    cases().iter().for_each(|case| refuse_each(case, CuResult::INVALID_VALUE, Call::cuInit));
}

pub fn each_call_refused_for_want_of_memory_ends_the_run_and_is_named() {
    cases().iter().for_each(|case| refuse_each(case, CuResult::OUT_OF_MEMORY, Call::cuInit));
}

pub fn each_call_after_a_device_fault_ends_the_run_and_is_named() {
    let codes = [CuResult::LAUNCH_FAILED, CuResult::ILLEGAL_ADDRESS].into_iter().cycle();
    cases().iter().zip(codes).for_each(|(case, code)| refuse_each(case, code, Call::cuStreamCreate));
}

/// A run in which worker 1 is killed at a call. Gives how long the run went on after that.
fn kill(case: &Case, fault: Fault, told: Told) -> Duration {
    let Told { number, call, step } = told;
    let what = format!("{fault}, {call}: {}", case.what);
    let backend = SimBackend::new("h200-x2").with_fault(fault);
    let report = play(&case.scenario, &backend).0.unwrap();
    let end = now();
    let failure = report.failure.clone().unwrap();
    assert_eq!((failure.kind, report.exit_code()), (FailureKind::WorkerDied, ExitCode::WorkerLost), "{what}");
    assert_eq!((failure.worker, failure.pid), (Some(1), Some(report.workers[1].pid)), "{what}: {failure:?}");
    assert_eq!(failure.step.as_deref(), Some(step), "{what}");
    assert!(failure.message.ends_with("killed by SIGKILL"), "{what}: {}", failure.message);
    let journal = backend.journal();
    assert_eq!(journal.len(), number, "{what}");
    backend.assert_nothing_is_left();
    end.saturating_sub(journal[number - 1].at)
}

/// Whether the run ends within a second after the death of worker 1. A host that is busy with other work may be late now
/// and then, the scenario may not: the best of three tries counts.
fn assert_ends_soon(case: &Case, fault: Fault, told: Told) {
    const TRIES: usize = 3;
    let mut took = (0..TRIES).map(|_| kill(case, fault, told));
    assert!(took.any(|took| took <= Duration::from_secs(1)), "{fault}, {}: more than a second", told.call);
}

pub fn a_worker_killed_before_any_call_ends_the_run_within_a_second() {
    let [memmap, _, simple, pool] = &cases();
    for case in [memmap, simple, pool] {
        case.story.iter().for_each(|told| assert_ends_soon(case, Fault::KillBefore(told.number), *told));
    }
}

pub fn a_worker_killed_after_any_call_ends_the_run_within_a_second() {
    let [_, memmap, simple, pool] = &cases();
    for case in [memmap, simple, pool] {
        case.story.iter().for_each(|told| assert_ends_soon(case, Fault::KillAfter(told.number), *told));
    }
}
