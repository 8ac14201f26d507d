//! Runs of multicast.

use peermap_driver::{ByteSize, Call};
use peermap_report::{ExitCode, FailureKind, RunReport};
use peermap_scenario::multicast::Multicast;
use peermap_scenario::{DeviceChoice, Options, VerifyOn, one_line};

use crate::backend::{SimBackend, options, play};
use crate::fault::Fault;

/// A run that has to succeed.
fn succeed(asked: Multicast, backend: &SimBackend) -> RunReport {
    let report = play(&asked.into(), backend).0.unwrap();
    assert_eq!(report.failure, None);
    assert!(report.ok);
    report
}

fn asked(options: Options, one_process: bool) -> Multicast {
    Multicast::new(options, one_process, None)
}

/// The norm of the numbers from one to so many.
fn norm(ranks: u16) -> Option<f32> {
    Some((1..=ranks).map(|rank| f32::from(rank * rank)).sum::<f32>().sqrt())
}

pub fn every_rank_sees_what_all_stored_and_comes_to_the_same_norm() {
    let backend = SimBackend::new("default");
    let report = succeed(asked(options(), false), &backend);
    assert_eq!((report.scenario.as_str(), report.workers.len()), ("multicast", 8));
    for worker in &report.workers {
        // Its copy, and the sums.
        assert_eq!((worker.bytes, worker.verified, worker.norm), (2 << 20, 4 << 20, norm(8)));
        let phases: Vec<&str> = worker.phases_ms.iter().map(|(name, _)| name).collect();
        let own = ["join", "bind", "map", "fill", "verify", "reduce", "norm", "teardown"];
        assert_eq!(phases, [&["init", "context", "module"][..], &own].concat());
    }
    backend.assert_nothing_is_left();
}

pub fn one_process_is_all_ranks() {
    let backend = SimBackend::new("default");
    let report = succeed(asked(Options { verify_on: VerifyOn::Host, ..options() }, true), &backend);
    assert_eq!(report.options["one_process"], "true");
    let worker = &report.workers[0];
    assert_eq!((report.workers.len(), worker.verified, worker.norm), (1, 8 * (4 << 20), norm(8)));
    backend.assert_nothing_is_left();
}

pub fn a_team_has_the_devices_that_are_asked_for() {
    let backend = SimBackend::new("default");
    let devices = Some([5, 0, 3].map(DeviceChoice::Ordinal).to_vec());
    let report = succeed(asked(Options { devices, ..options() }, false), &backend);
    assert_eq!(report.workers.iter().map(|worker| worker.device).collect::<Vec<_>>(), [5, 0, 3]);
    assert!(report.workers.iter().all(|worker| worker.norm == norm(3)));
}

pub fn sizes_are_multiples_of_the_teams_own_granularity() {
    let backend = SimBackend::new("wide-teams");
    let error = play(&asked(options(), false).into(), &backend).0.unwrap_err();
    let line = "2 MiB is no multiple of the granularity, which is 8 MiB; the next size that fits is 8 MiB";
    assert_eq!((error.exit_code(), one_line(&error)), (ExitCode::Usage, line.to_owned()));
    succeed(asked(Options { size: ByteSize::mib(16), ..options() }, true), &backend);
}

pub fn devices_without_multicast_are_named() {
    let error = play(&asked(options(), false).into(), &SimBackend::new("no-multicast")).0.unwrap_err();
    let line = "no usable device: devices 0, 1: no multicast";
    assert_eq!((error.exit_code(), one_line(&error)), (ExitCode::BackendUnavailable, line.to_owned()));
}

/// The team of a rank that does not come is never complete.
pub fn a_rank_that_adds_no_device_is_named_by_who_waits_for_it() {
    let backend = SimBackend::new("h200-x2");
    let report = play(&Multicast::new(options(), false, Some(1)).into(), &backend).0.unwrap();
    let failure = report.failure.clone().unwrap();
    assert_eq!((failure.kind, report.exit_code()), (FailureKind::TimedOut, ExitCode::WorkerLost));
    assert_eq!((failure.rule.as_deref(), failure.call.as_deref()), (Some("WAIT-1"), Some("cuMulticastBindMem")));
    for part in ["added [device 0 by process 0]", "missing 1", "of devices [1]", "process 1"] {
        assert!(failure.message.contains(part), "{part}: {}", failure.message);
    }
    backend.assert_nothing_is_left();
}

pub fn the_absence_of_a_rank_that_there_is_not_is_refused() {
    let error = play(&Multicast::new(options(), true, Some(2)).into(), &SimBackend::new("h200-x2")).0.unwrap_err();
    let line = "there is no rank 2 to be absent; the ranks are 0 to 1";
    assert_eq!((error.exit_code(), one_line(&error)), (ExitCode::Usage, line.to_owned()));
}

/// Others wait at the barrier before they bind, so that nobody waits in the driver.
pub fn a_rank_that_is_refused_or_dies_before_it_joins_ends_the_run_and_is_named() {
    let scenario = asked(options(), false).into();
    let backend = SimBackend::new("h200-x2").with_fault(Fault::Refuse(Call::cuMulticastAddDevice));
    let failure = play(&scenario, &backend).0.unwrap().failure.unwrap();
    assert_eq!((failure.worker, failure.call.as_deref()), (Some(1), Some("cuMulticastAddDevice")));
    assert_eq!(failure.step.as_deref(), Some("add the device to the team"));
    backend.assert_nothing_is_left();
    for call in
        [Call::cuMulticastAddDevice, Call::cuMulticastBindMem, Call::cuMulticastUnbind, Call::cuMulticastBindAddr]
    {
        let backend = SimBackend::new("h200-x2").with_fault(Fault::Kill(call));
        let report = play(&scenario, &backend).0.unwrap();
        let failure = report.failure.clone().unwrap();
        assert_eq!((failure.kind, failure.worker), (FailureKind::WorkerDied, Some(1)), "{call}");
        assert!(report.wall_ms < 30_000.0, "{call}: {} ms", report.wall_ms);
        backend.assert_nothing_is_left();
    }
}

pub fn a_rank_that_hangs_is_named_when_the_time_is_over() {
    let backend = SimBackend::new("h200-x2").with_fault(Fault::Hang(Call::cuMulticastAddDevice));
    let options = Options { timeout: std::time::Duration::from_millis(1500), ..options() };
    let failure = play(&asked(options, false).into(), &backend).0.unwrap().failure.unwrap();
    assert_eq!((failure.kind, failure.worker), (FailureKind::TimedOut, Some(1)));
    assert_eq!(failure.step.as_deref(), Some("add the device to the team"));
    backend.assert_nothing_is_left();
}
