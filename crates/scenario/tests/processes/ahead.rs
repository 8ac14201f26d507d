//! Workers get ready while their parent makes the memory: what they do before it has any, and how a run ends then.

use std::time::Duration;

use peermap_driver::{Call, CuResult, DriverError, Result};
use peermap_report::{ExitCode, FailureKind};
use peermap_scenario::{Options, Scenario};

use crate::backend::{SimBackend, memmap_ipc, options, play, pool_ipc, simple_ipc};
use crate::fault::Fault;
use crate::parent_calls::{Guarded, MockGuard};

/// The last call with which a worker gets ready.
const READY: Call = Call::cuEventCreate;

/// A guard of a parent that does something before the parent's first call of this name.
fn before(call: Call, act: impl Fn() -> Result<()> + Send + 'static) -> MockGuard {
    let mut guard = MockGuard::new();
    guard.expect_before().withf(move |made, _| *made == call).times(1).returning(move |_, _| act());
    guard.expect_before().returning(|_, _| Ok(()));
    guard.expect_after().return_const(());
    guard
}

/// The scenarios whose parent has memory, and with which call it makes that.
fn cases(options: &Options) -> [(Scenario, Call); 3] {
    [
        (memmap_ipc(options), Call::cuMemCreate),
        (simple_ipc(options), Call::cuMemAlloc),
        (pool_ipc(options), Call::cuMemAllocFromPoolAsync),
    ]
}

pub fn workers_are_set_up_before_the_parent_has_any_memory() {
    for (scenario, makes) in cases(&options()) {
        let sim = SimBackend::new("h200-x2");
        let inbox = sim.inbox.clone();
        let guard = before(makes, move || {
            assert!(inbox.wait_for(READY), "worker 1 waits for memory");
            Ok(())
        });
        let report = play(&scenario, &Guarded::new(&sim, guard)).0.unwrap();
        assert_eq!(report.failure, None);
        sim.assert_nothing_is_left();
    }
}

pub fn a_worker_that_dies_before_there_is_any_memory_ends_the_run_and_is_named() {
    for (scenario, makes) in cases(&options()) {
        let sim = SimBackend::new("h200-x2").with_fault(Fault::Kill(READY));
        let inbox = sim.inbox.clone();
        let guard = before(makes, move || {
            assert!(inbox.wait_for(READY), "worker 1 waits for memory");
            inbox.all();
            Ok(())
        });
        // Whether the parent notices at its next call or when it has all its memory is a matter of time.
        let report = play(&scenario, &Guarded::new(&sim, guard)).0.unwrap();
        let failure = report.failure.unwrap();
        assert_eq!(report.workers.len(), 2);
        assert_eq!((failure.kind, failure.worker), (FailureKind::WorkerDied, Some(1)), "{failure:?}");
        assert_eq!(failure.step.as_deref(), Some("module"));
        sim.assert_nothing_is_left();
    }
}

pub fn a_parent_that_cannot_allocate_ends_the_run_while_its_workers_wait() {
    for (scenario, makes) in cases(&options()) {
        let sim = SimBackend::new("h200-x2");
        let inbox = sim.inbox.clone();
        let guard = before(makes, move || {
            assert!(inbox.wait_for(READY), "worker 1 waits for memory");
            Err(DriverError::refused(CuResult::OUT_OF_MEMORY))
        });
        let error = play(&scenario, &Guarded::new(&sim, guard)).0.unwrap_err();
        let failure = error.failure();
        assert_eq!((error.exit_code(), failure.call.as_deref()), (ExitCode::DriverError, Some(makes.name())));
        assert_eq!(failure.step.as_deref(), Some("allocate and export"));
        sim.assert_nothing_is_left();
    }
}

pub fn a_parent_that_allocates_for_too_long_ends_the_run_in_time() {
    let timeout = Duration::from_millis(1500);
    for (scenario, makes) in cases(&Options { timeout, ..options() }) {
        let sim = SimBackend::new("h200-x2");
        let guard = before(makes, move || {
            std::thread::sleep(timeout);
            Ok(())
        });
        let report = play(&scenario, &Guarded::new(&sim, guard)).0.unwrap();
        assert_eq!((report.failure.unwrap().kind, report.workers.len()), (FailureKind::TimedOut, 2));
        assert!(report.wall_ms < 30_000.0, "{} ms", report.wall_ms);
        sim.assert_nothing_is_left();
    }
}
