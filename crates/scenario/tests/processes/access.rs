//! Runs of access.

use std::collections::BTreeSet;

use peermap_driver::{ByteSize, Call};
use peermap_report::{Event, ExitCode, FailureKind, RunReport};
use peermap_scenario::access::{Access, Deed, Right};
use peermap_scenario::{DeviceChoice, Options, VerifyOn, one_line};

use crate::backend::{SimBackend, options, play};
use crate::fault::Fault;

/// Workers of each device.
const SEATS: usize = 7;

/// A run that has to succeed.
fn succeed(options: Options, backend: &SimBackend) -> (RunReport, Vec<Event>) {
    let (result, events) = play(&Access::new(options).into(), backend);
    let report = result.unwrap();
    assert_eq!(report.failure, None);
    assert!(report.ok);
    (report, events)
}

/// What every try of a device answered, by right and deed.
fn answers(report: &RunReport, device: i32) -> BTreeSet<(String, String, String)> {
    let workers = report.workers.iter().filter(|worker| worker.device == device);
    let tries = workers.flat_map(|worker| &worker.tries);
    tries.map(|tried| (tried.right.clone(), tried.deed.clone(), tried.answer.clone())).collect()
}

/// What copy, load, set and store must answer.
fn must_answer() -> BTreeSet<(String, String, String)> {
    const NO: &str = "CUDA_ERROR_INVALID_VALUE";
    const FAULT: &str = "CUDA_ERROR_ILLEGAL_ADDRESS";
    let nothing = [NO, FAULT, NO, FAULT];
    let read = ["done", "done", NO, FAULT];
    let both = ["done"; 4];
    let rows = Right::ALL.into_iter().zip([nothing, read, both, both, read, nothing]);
    let cells = rows.flat_map(|(right, row)| Deed::ALL.into_iter().zip(row).map(move |cell| (right, cell)));
    cells.map(|(right, (deed, answer))| (right.to_string(), deed.to_string(), answer.to_owned())).collect()
}

pub fn each_right_is_tried_from_each_device() {
    let backend = SimBackend::new("h200-x2");
    let (report, events) = succeed(options(), &backend);
    assert_eq!((report.scenario.as_str(), report.workers.len()), ("access", 2 * SEATS));
    assert_eq!(must_answer().len(), 24);
    for device in [0, 1] {
        assert_eq!(answers(&report, device), must_answer(), "device {device}");
    }
    let pids: BTreeSet<u32> = report.workers.iter().map(|worker| worker.pid).collect();
    assert_eq!(pids.len(), 2 * SEATS);
    let progress: Vec<_> = events.iter().filter(|event| matches!(event, Event::Progress { .. })).collect();
    assert_eq!(progress, [&Event::Progress { done: 1, of: 2 }, &Event::Progress { done: 2, of: 2 }]);
    backend.assert_nothing_is_left();
}

pub fn a_try_that_must_fault_has_a_process_of_its_own() {
    let (report, _) = succeed(options(), &SimBackend::new("h200-x2"));
    let faults = |worker: usize| {
        report.workers[worker].tries.iter().filter(|tried| tried.answer.ends_with("ILLEGAL_ADDRESS")).count()
    };
    assert_eq!([0, 1].map(faults), [0, 0]);
    assert!((2..2 * SEATS).all(|worker| faults(worker) == 1 && report.workers[worker].tries.len() == 1));
}

pub fn no_fault_changes_a_byte() {
    for verify_on in [VerifyOn::Device, VerifyOn::Host] {
        let (report, _) = succeed(Options { verify_on, ..options() }, &SimBackend::new("h200-x2"));
        let verified: Vec<u64> = report.workers[..2].iter().map(|worker| worker.verified).collect();
        assert_eq!(verified, [6 * (2 << 20); 2], "{verify_on}");
    }
}

pub fn one_device_is_enough() {
    let devices = Some(vec![DeviceChoice::Ordinal(1)]);
    let (report, _) = succeed(Options { devices, ..options() }, &SimBackend::new("h200-x2"));
    assert_eq!((report.workers.len(), answers(&report, 1)), (SEATS, must_answer()));
}

pub fn a_try_that_the_rights_do_not_stop_is_a_mismatch() {
    let backend = SimBackend::new("h200-x2").with_fault(Fault::Open);
    let failure = play(&Access::new(options()).into(), &backend).0.unwrap().failure.unwrap();
    assert_eq!((failure.kind, failure.worker, failure.exit_code), (FailureKind::Mismatch, Some(1), 11));
    assert_eq!(failure.step.as_deref(), Some("try copy, none"));
    assert!(failure.message.ends_with("copy succeeded, and the rights (none) forbid it"), "{}", failure.message);
    backend.assert_nothing_is_left();
}

pub fn a_byte_that_changes_under_the_others_is_found() {
    let backend = SimBackend::new("h200-x2").with_fault(Fault::Corrupt);
    let failure = play(&Access::new(options()).into(), &backend).0.unwrap().failure.unwrap();
    let mismatch = failure.mismatch.unwrap();
    assert_eq!((failure.exit_code, mismatch.worker, mismatch.buffer, mismatch.wrong_bytes), (11, 1, 3, 2));
}

pub fn a_refused_or_killed_worker_is_named() {
    for (fault, code) in [
        (Fault::Refuse(Call::cuMemSetAccess), 16),
        (Fault::Refuse(Call::cuMemGetAccess), 16),
        (Fault::Refuse(Call::cuMemMap), 16),
        (Fault::Kill(Call::cuMemUnmap), 13),
        (Fault::Kill(Call::cuLaunchKernel), 13),
    ] {
        let backend = SimBackend::new("h200-x2").with_fault(fault);
        let failure = play(&Access::new(options()).into(), &backend).0.unwrap().failure.unwrap();
        assert_eq!((failure.worker, failure.exit_code), (Some(1), code), "{fault}: {}", failure.message);
        backend.assert_nothing_is_left();
    }
}

pub fn what_cannot_be_is_refused() {
    let refused = |asked: Options, profile: &str| {
        let error = play(&Access::new(asked).into(), &SimBackend::new(profile)).0.unwrap_err();
        (error.exit_code(), one_line(&error))
    };
    let (code, line) = refused(Options { size: ByteSize::mib(3), ..options() }, "h200-x2");
    assert_eq!((code, line.contains("granularity")), (ExitCode::Usage, true), "{line}");
    let (code, line) = refused(Options { size: ByteSize::gib(100), ..options() }, "h200-x2");
    assert_eq!((code, line.starts_with("14 buffers of 100 GiB do not fit")), (ExitCode::Usage, true), "{line}");
    let devices = Some(vec![DeviceChoice::Ordinal(0), DeviceChoice::Ordinal(1)]);
    let (code, line) = refused(Options { devices, ..options() }, "no-peer");
    assert_eq!((code, line.contains("no peer access both ways")), (ExitCode::BackendUnavailable, true), "{line}");
}
