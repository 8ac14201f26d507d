//! Runs that succeed.

use peermap_driver::{AllocationProp, ByteSize, HandleType};
use peermap_report::{Event, FailureKind, RunReport};
use peermap_scenario::{Backend, DeviceChoice, Fill, Options, Verify, VerifyOn};

use crate::backend::{SimBackend, options, run};

/// A run that has to succeed.
fn succeed(options: &Options, backend: &SimBackend) -> (RunReport, Vec<Event>) {
    let (result, events) = run(options, backend);
    let report = result.unwrap();
    assert_eq!(report.failure, None);
    assert!(report.ok);
    (report, events)
}

fn devices(report: &RunReport) -> Vec<i32> {
    report.workers.iter().map(|worker| worker.device).collect()
}

pub fn two_devices_fill_and_verify_in_turn() {
    let backend = SimBackend::new("h200-x2");
    let (report, events) = succeed(&Options::default(), &backend);
    assert_eq!(devices(&report), [0, 1]);
    assert_eq!((report.scenario.as_str(), report.backend.as_str()), ("memmap-ipc", "sim"));
    assert_eq!(report.profile.as_deref(), Some("h200-x2"));
    for worker in &report.workers {
        assert_eq!((worker.bytes, worker.verified), (4 << 20, 4 << 20));
        let phases: Vec<&str> = worker.phases_ms.iter().map(|(name, _)| name).collect();
        assert_eq!(phases, ["init", "context", "module", "map", "fill", "verify", "teardown"]);
        assert_eq!(worker.last_step, "exit");
        assert!(worker.fill_gb_s.is_some_and(|rate| rate > 0.0));
    }
    let progress: Vec<_> = events.iter().filter(|event| matches!(event, Event::Progress { .. })).collect();
    assert_eq!(progress, [&Event::Progress { done: 1, of: 2 }, &Event::Progress { done: 2, of: 2 }]);
    backend.assert_nothing_is_left();
}

pub fn every_combination_of_fill_and_verify_succeeds() {
    let backend = SimBackend::new("h200-x2");
    for fill in [Fill::Id, Fill::Pattern] {
        for (verify, buffers) in [(Verify::Own, 1), (Verify::All, 4)] {
            for verify_on in [VerifyOn::Device, VerifyOn::Host] {
                let asked = Options { fill: Some(fill), verify, verify_on, processes_per_device: 2, ..options() };
                let (report, _) = succeed(&asked, &backend);
                let verified: Vec<u64> = report.workers.iter().map(|worker| worker.verified).collect();
                assert_eq!(verified, [buffers * (2 << 20); 4], "{fill} {verify} {verify_on}");
            }
        }
    }
}

pub fn several_processes_share_a_device() {
    let asked = Options {
        devices: Some(vec![DeviceChoice::Ordinal(1), DeviceChoice::Ordinal(0)]),
        processes_per_device: 3,
        verify: Verify::All,
        ..options()
    };
    let (report, _) = succeed(&asked, &SimBackend::new("h200-x2"));
    assert_eq!(devices(&report), [1, 0, 1, 0, 1, 0]);
    let pids: std::collections::BTreeSet<u32> = report.workers.iter().map(|worker| worker.pid).collect();
    assert_eq!(pids.len(), 6);
}

pub fn devices_that_are_not_connected_are_named_and_the_rest_runs() {
    let (report, events) = succeed(&options(), &SimBackend::new("no-peer"));
    assert_eq!(devices(&report), [0]);
    assert_eq!(report.rejected[0].device, "device 1");
    assert_eq!(report.rejected[0].reason, "no peer access both ways with device 0");
    assert!(events.iter().any(|event| matches!(event, Event::DevicesRejected { .. })));
}

pub fn hardware_with_eight_peers_takes_nine_devices() {
    let backend = SimBackend::new("peers-8");
    let (report, _) = succeed(&Options { enable_peers: true, ..options() }, &backend);
    assert_eq!(devices(&report), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(report.rejected.len(), 7);
    assert!(report.rejected[0].reason.contains("CUDA_ERROR_TOO_MANY_PEERS"), "{}", report.rejected[0].reason);
}

pub fn measurements_come_after_the_run() {
    let backend = SimBackend::new("h200-x2");
    let (report, _) = succeed(&Options { measure: true, ..options() }, &backend);
    // Two runs of two workers, and the devices are woken before each of five measurements of the reference and before the run.
    assert_eq!(backend.started.get(), 2 * 2 + 5 * 2 + 1);
    let reference = report.reference.unwrap();
    assert!(reference.init_ms > 0.0 && reference.context_ms > 0.0 && reference.wall_ratio > 0.0);
    for worker in &report.workers {
        let rates = worker.measured.unwrap();
        assert!(rates.fill_gb_s > 0.0 && rates.verify_gb_s > 0.0 && rates.memset_gb_s > 0.0);
        assert_eq!(worker.phases_ms.get("measure"), None);
    }
}

pub fn memory_that_somebody_still_holds_at_the_end_is_a_failure() {
    let backend = SimBackend::new("h200-x2");
    let holder = backend.driver().unwrap();
    holder.init(0).unwrap();
    let held = holder.mem_create(ByteSize::mib(2), &AllocationProp::pinned_on(0, HandleType::NONE), 0).unwrap();
    let report = run(&options(), &backend).0.unwrap();
    assert_eq!(report.failure.map(|failure| failure.kind), Some(FailureKind::Memory));
    holder.mem_release(held).unwrap();
}

pub fn ids_that_only_seem_too_many_are_used() {
    // 256 workers are expected, but no device of this machine reaches another, so that one takes part.
    let asked = Options { fill: Some(Fill::Id), processes_per_device: 8, ..options() };
    succeed(&asked, &SimBackend::new("no-peer").expecting(32));
}

pub fn workers_too_many_or_too_few_are_dismissed_or_added() {
    for expected in [0, 1, 5] {
        let (report, _) = succeed(&options(), &SimBackend::new("h200-x2").expecting(expected));
        assert_eq!(devices(&report), [0, 1], "{expected} expected");
    }
}

pub fn the_source_of_the_kernels_shows_to_who_asks() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy("../../kernels/memmap_ipc.ptx", folder.path().join("memmap_ipc.ptx")).unwrap();
    let asked = Options { kernels: Some(folder.path().to_owned()), verbose: true, size: ByteSize::mib(6), ..options() };
    let (report, events) = succeed(&asked, &SimBackend::new("h200-x2"));
    assert!(report.options["kernels"].ends_with("memmap_ipc.ptx"));
    let notes: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            Event::Note { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(notes.len(), 2);
    assert!(notes.iter().all(|note| note.contains(folder.path().to_str().unwrap())), "{notes:?}");
}
