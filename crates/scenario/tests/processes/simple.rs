//! Runs of simple-ipc.

use peermap_driver::{ByteSize, Call};
use peermap_report::{Event, ExitCode, FailureKind, RunReport};
use peermap_scenario::simple_ipc::SimpleIpc;
use peermap_scenario::{DeviceChoice, Fill, Options, Order, Relay, Verify, VerifyOn, one_line};

use crate::backend::{SimBackend, options, play};
use crate::fault::Fault;

fn asked(order: Order) -> Relay {
    Relay { options: options(), order, steps: None }
}

/// A run that has to succeed.
fn succeed(asked: Relay, backend: &SimBackend) -> (RunReport, Vec<Event>) {
    let (result, events) = play(&SimpleIpc(asked).into(), backend);
    let report = result.unwrap();
    assert_eq!(report.failure, None);
    assert!(report.ok);
    (report, events)
}

/// The exit code and the line of a request that has to be refused.
fn refused(asked: Relay, profile: &str) -> (ExitCode, String) {
    let error = play(&SimpleIpc(asked).into(), &SimBackend::new(profile)).0.unwrap_err();
    (error.exit_code(), one_line(&error))
}

fn verified(report: &RunReport) -> Vec<u64> {
    report.workers.iter().map(|worker| worker.verified).collect()
}

pub fn buffers_of_two_devices_are_handed_round() {
    let backend = SimBackend::new("h200-x2");
    let (report, events) = succeed(Relay::default(), &backend);
    assert_eq!((report.scenario.as_str(), report.profile.as_deref()), ("simple-ipc", Some("h200-x2")));
    assert_eq!((report.options["order"].as_str(), report.options["steps"].as_str()), ("events", "one per worker"));
    assert_eq!(report.workers.iter().map(|worker| worker.device).collect::<Vec<_>>(), [0, 1]);
    for worker in &report.workers {
        assert_eq!((worker.bytes, worker.verified), (64 << 20, 64 << 20));
        let phases: Vec<&str> = worker.phases_ms.iter().map(|(name, _)| name).collect();
        assert_eq!(phases, ["init", "context", "module", "open", "ring", "verify", "teardown"]);
        assert!(worker.fill_gb_s.is_some_and(|rate| rate > 0.0));
    }
    let progress: Vec<_> = events.iter().filter(|event| matches!(event, Event::Progress { .. })).collect();
    assert_eq!(progress, [&Event::Progress { done: 1, of: 2 }, &Event::Progress { done: 2, of: 2 }]);
    backend.assert_nothing_is_left();
}

pub fn every_combination_of_order_fill_and_verify_succeeds() {
    let backend = SimBackend::new("h200-x2");
    for order in [Order::Events, Order::Host] {
        for (fill, verify_on) in [(Fill::Id, VerifyOn::Device), (Fill::Pattern, VerifyOn::Host)] {
            let options = Options { fill: Some(fill), verify_on, verify: Verify::All, ..options() };
            let options = Options { processes_per_device: 3, ..options };
            let (report, _) = succeed(Relay { options, ..asked(order) }, &backend);
            assert_eq!(verified(&report), [6 * (2 << 20); 6], "{order} {fill} {verify_on}");
        }
    }
}

pub fn there_may_be_more_or_fewer_steps_than_workers() {
    let backend = SimBackend::new("h200-x2");
    for steps in [1, 3, 4, 5, 17] {
        let fill = Some(Fill::Pattern);
        let options = Options { fill, processes_per_device: 2, verify: Verify::All, ..options() };
        let (report, _) = succeed(Relay { options, steps: Some(steps), ..asked(Order::Events) }, &backend);
        assert_eq!(verified(&report), [4 * (2 << 20); 4], "{steps} steps");
        assert_eq!(report.options["steps"], steps.to_string());
    }
}

pub fn a_size_need_be_no_multiple_of_anything() {
    let options = Options { size: ByteSize::new(1_000_001), verify: Verify::All, ..options() };
    let (report, _) = succeed(Relay { options, ..asked(Order::Events) }, &SimBackend::new("h200-x2"));
    assert_eq!(verified(&report), [2 * 1_000_001; 2]);
}

pub fn measurements_come_after_the_run() {
    let options = Options { measure: true, ..options() };
    let (report, _) = succeed(Relay { options, ..asked(Order::Events) }, &SimBackend::new("h200-x2"));
    assert!(report.reference.is_some_and(|reference| reference.wall_ratio > 0.0));
    assert!(report.workers.iter().all(|worker| worker.measured.is_some_and(|rates| rates.fill_gb_s > 0.0)));
}

/// A run without any order, which must end with the wrong author in some buffer.
fn assert_mismatch(processes_per_device: u32, size: ByteSize, backend: &SimBackend) {
    let options = Options { processes_per_device, size, ..options() };
    let report = play(&SimpleIpc(Relay { options, ..asked(Order::None) }).into(), backend).0.unwrap();
    let failure = report.failure.unwrap();
    assert_eq!((failure.kind, failure.exit_code), (FailureKind::Mismatch, 11), "{}", failure.message);
    assert_eq!(failure.mismatch.unwrap().wrong_bytes, size.get(), "all of a buffer has one author");
}

pub fn without_any_order_the_check_fails_every_time() {
    let backend = SimBackend::new("h200-x2");
    (0..40).for_each(|_| assert_mismatch(1, ByteSize::mib(2), &backend));
    (0..5).for_each(|_| assert_mismatch(1, ByteSize::mib(64), &backend));
    (0..5).for_each(|_| assert_mismatch(4, ByteSize::mib(2), &backend));
    backend.assert_nothing_is_left();
}

pub fn a_single_worker_needs_no_order() {
    let options = Options { devices: Some(vec![DeviceChoice::Ordinal(1)]), ..options() };
    succeed(Relay { options, ..asked(Order::None) }, &SimBackend::new("h200-x2"));
}

pub fn devices_that_are_not_connected_are_named_and_the_rest_runs() {
    let (report, _) = succeed(asked(Order::Events), &SimBackend::new("no-peer"));
    assert_eq!(report.workers.len(), 1);
    assert_eq!(report.rejected[0].reason, "no peer access both ways with device 0");
    let devices = Some(vec![DeviceChoice::Ordinal(0), DeviceChoice::Ordinal(1)]);
    let wanted = Relay { options: Options { devices, ..options() }, ..asked(Order::Events) };
    let line = "no usable device: device 1: no peer access both ways with device 0";
    assert_eq!(refused(wanted, "no-peer"), (ExitCode::BackendUnavailable, line.to_owned()));
}

pub fn what_cannot_be_is_refused_before_any_worker_gets_work() {
    let with = |options| Relay { options, ..asked(Order::Events) };
    let no_steps = Relay { steps: Some(0), ..asked(Order::Events) };
    assert_eq!(
        refused(no_steps, "h200-x2"),
        (ExitCode::Usage, "0 steps fill nothing; use --steps 1 or more".to_owned())
    );
    let (code, line) = refused(with(Options { size: ByteSize::ZERO, ..options() }), "h200-x2");
    assert_eq!((code, line.contains("--size")), (ExitCode::Usage, true), "{line}");
    // Each device holds the buffers of its own workers only.
    let large = Options { size: ByteSize::gib(100), processes_per_device: 2, ..options() };
    let (code, line) = refused(with(large), "h200-x2");
    assert_eq!(code, ExitCode::Usage);
    assert!(line.starts_with("2 buffers of 100 GiB do not fit the ") && line.contains("device 0"), "{line}");
    let mut backend = SimBackend::new("h200-x2");
    backend.memory_limit = Some(ByteSize::mib(15));
    let options = Options { size: ByteSize::mib(8), ..options() };
    let error = play(&SimpleIpc(with(options)).into(), &backend).0.unwrap_err();
    assert!(one_line(&error).ends_with("that this host can back; use a --size of at most 6 MiB"), "{error}");
}

pub fn nothing_of_a_failed_run_is_left_on_the_machine() {
    for call in [Call::cuIpcOpenEventHandle, Call::cuStreamWaitEvent, Call::cuStreamSynchronize] {
        let backend = SimBackend::new("h200-x2").with_fault(Fault::Kill(call));
        let report = play(&SimpleIpc(asked(Order::Events)).into(), &backend).0.unwrap();
        assert_eq!(report.failure.unwrap().kind, FailureKind::WorkerDied, "{call}");
        backend.assert_nothing_is_left();
    }
}
