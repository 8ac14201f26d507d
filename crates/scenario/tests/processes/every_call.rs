//! Each call of a worker in turn: refused, and with its process killed before it and after it.

use std::time::Duration;

use peermap_driver::{Call, CuResult};
use peermap_report::{ExitCode, FailureKind};
use peermap_scenario::{Fill, Options, VerifyOn};

use crate::backend::{SimBackend, options, run};
use crate::fault::Fault;
use crate::journal::now;
use crate::story::{self, Told};

/// Work that is verified on the device.
fn ids_on_device() -> Options {
    Options { fill: Some(Fill::Id), verify_on: VerifyOn::Device, ..options() }
}

/// Work that is verified on the host.
fn pattern_on_host() -> Options {
    Options { fill: Some(Fill::Pattern), verify_on: VerifyOn::Host, ..options() }
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
    for asked in [ids_on_device(), pattern_on_host()] {
        let backend = SimBackend::new("h200-x2");
        assert!(run(&asked, &backend).0.unwrap().ok);
        let made: Vec<Call> = backend.journal().iter().map(|entry| entry.call).collect();
        let told: Vec<Call> = story::of_worker(asked.verify_on).iter().map(|told| told.call).collect();
        assert_eq!(made, told, "{}", asked.verify_on);
        backend.assert_nothing_is_left();
    }
}

/// A run in which a call of worker 1 is refused.
fn refuse(asked: &Options, told: Told, code: CuResult) {
    let Told { number, call, step } = told;
    let what = format!("call {number}, {call}, is refused with {code}, verified on {}", asked.verify_on);
    let backend = SimBackend::new("h200-x2").with_fault(Fault::RefuseNth(number, code));
    let report = run(asked, &backend).0.unwrap();
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
fn refuse_each(asked: &Options, code: CuResult, first: Call) {
    let story = story::of_worker(asked.verify_on);
    story.into_iter().skip_while(|told| told.call != first).for_each(|told| refuse(asked, told, code));
}

pub fn each_call_refused_as_invalid_ends_the_run_and_is_named() {
    refuse_each(&ids_on_device(), CuResult::INVALID_VALUE, Call::cuInit);
    refuse_each(&pattern_on_host(), CuResult::INVALID_VALUE, Call::cuInit);
}

pub fn each_call_refused_for_want_of_memory_ends_the_run_and_is_named() {
    refuse_each(&ids_on_device(), CuResult::OUT_OF_MEMORY, Call::cuInit);
    refuse_each(&pattern_on_host(), CuResult::OUT_OF_MEMORY, Call::cuInit);
}

pub fn each_call_after_a_device_fault_ends_the_run_and_is_named() {
    refuse_each(&ids_on_device(), CuResult::LAUNCH_FAILED, Call::cuStreamCreate);
    refuse_each(&pattern_on_host(), CuResult::ILLEGAL_ADDRESS, Call::cuStreamCreate);
}

/// A run in which worker 1 is killed at a call. Gives how long the run went on after that.
fn kill(asked: &Options, fault: Fault, told: Told) -> Duration {
    let Told { number, call, step } = told;
    let what = format!("{fault}, {call}, verified on {}", asked.verify_on);
    let backend = SimBackend::new("h200-x2").with_fault(fault);
    let report = run(asked, &backend).0.unwrap();
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
fn assert_ends_soon(asked: &Options, fault: Fault, told: Told) {
    const TRIES: usize = 3;
    let mut took = (0..TRIES).map(|_| kill(asked, fault, told));
    assert!(took.any(|took| took <= Duration::from_secs(1)), "{fault}, {}: more than a second", told.call);
}

pub fn a_worker_killed_before_any_call_ends_the_run_within_a_second() {
    let asked = ids_on_device();
    for told in story::of_worker(asked.verify_on) {
        assert_ends_soon(&asked, Fault::KillBefore(told.number), told);
    }
}

pub fn a_worker_killed_after_any_call_ends_the_run_within_a_second() {
    let asked = pattern_on_host();
    for told in story::of_worker(asked.verify_on) {
        assert_ends_soon(&asked, Fault::KillAfter(told.number), told);
    }
}
