//! Runs of multicast.

use peermap_driver::{ByteSize, Call};
use peermap_report::{ExitCode, FailureKind, RunReport};
use peermap_scenario::multicast::{Multicast, Team};
use peermap_scenario::{DeviceChoice, Options, ShareAs, VerifyOn, one_line};

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
    Multicast::new(options, Team { one_process, ..Team::default() })
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

pub fn a_team_is_shared_by_descriptor_and_by_fabric_handle() {
    let backend = SimBackend::new("default");
    for share_as in [ShareAs::Fd, ShareAs::Fabric, ShareAs::Auto] {
        for one_process in [false, true] {
            let team = Team { one_process, share_as, ..Team::default() };
            let report = succeed(Multicast::new(options(), team), &backend);
            assert!(report.workers.iter().all(|worker| worker.norm == norm(8)), "{share_as} {one_process}");
            assert_eq!(report.options["handle"], share_as.to_string());
        }
    }
    backend.assert_nothing_is_left();
}

pub fn without_fabric_handles_a_team_is_shared_by_descriptor_or_refused() {
    let shared_as = |share_as, profile| {
        let team = Team { share_as, ..Team::default() };
        play(&Multicast::new(options(), team).into(), &SimBackend::new(profile)).0
    };
    for (profile, reason) in [
        ("no-fabric", "memory cannot be shared as a fabric handle"),
        (
            "h200-x2",
            "no fabric handles: cuMemCreate answers CUDA_ERROR_NOT_PERMITTED: there is no IMEX channel, or not the same one",
        ),
    ] {
        let error = shared_as(ShareAs::Fabric, profile).unwrap_err();
        let line = format!("no usable device: devices 0, 1: {reason}");
        assert_eq!((error.exit_code(), one_line(&error)), (ExitCode::BackendUnavailable, line));
        let report = shared_as(ShareAs::Auto, profile).unwrap();
        assert!(report.ok && report.remarks[0].starts_with("the team is shared as descriptors: cuMemCreate answers "));
    }
}

/// Bytes, and not all of a word: the last rank's part ends within one.
pub fn a_size_is_padded_to_the_teams_own_granularity_if_asked_for() {
    let backend = SimBackend::new("wide-teams");
    for one_process in [false, true] {
        for size in [ByteSize::mib(3), ByteSize::new(8_000_003), ByteSize::new(5)] {
            let team = Team { one_process, round_up: true, ..Team::default() };
            let report = succeed(Multicast::new(Options { size, ..options() }, team), &backend);
            let verified: u64 = report.workers.iter().map(|worker| worker.verified).sum();
            assert_eq!(verified, 4 * 2 * size.get(), "{size}");
            let said = format!("buffers of {size} are padded to 8 MiB: ");
            assert!(report.remarks[0].starts_with(&said), "{:?}", report.remarks);
        }
    }
    backend.assert_nothing_is_left();
}

/// A run of which this rank stays away.
fn absent(one_process: bool, rank: u32) -> Multicast {
    Multicast::new(options(), Team { one_process, absent: Some(rank), ..Team::default() })
}

/// The team of a rank that does not come is never complete.
pub fn a_rank_that_adds_no_device_is_named_by_who_waits_for_it() {
    let backend = SimBackend::new("h200-x2");
    let report = play(&absent(false, 1).into(), &backend).0.unwrap();
    let failure = report.failure.clone().unwrap();
    assert_eq!((failure.kind, report.exit_code()), (FailureKind::TimedOut, ExitCode::WorkerLost));
    assert_eq!((failure.rule.as_deref(), failure.call.as_deref()), (Some("WAIT-1"), Some("cuMulticastBindMem")));
    for part in ["added [device 0 by process 0]", "missing 1", "of devices [1]", "process 1"] {
        assert!(failure.message.contains(part), "{part}: {}", failure.message);
    }
    backend.assert_nothing_is_left();
}

pub fn the_absence_of_a_rank_that_there_is_not_is_refused() {
    let error = play(&absent(true, 2).into(), &SimBackend::new("h200-x2")).0.unwrap_err();
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
