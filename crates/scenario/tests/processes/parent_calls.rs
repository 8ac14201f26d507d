//! Each call of the parent in turn refused, by a mocked interceptor before its driver.

use std::cell::Cell;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mockall::mock;
use peermap_driver::{ByteSize, Call, CuResult, Driver, DriverError, Intercepted, Interceptor, Value};
use peermap_report::Failure;
use peermap_scenario::{Backend, BackendError, Options, Scenario, WorkerEndpoint};

use crate::backend::{SimBackend, memmap_ipc, options, play, pool_ipc, simple_ipc};
use crate::every_call::exit_code_of;
use crate::story::{self, Told};

mock! {
    pub Guard {}

    impl Interceptor for Guard {
        fn before<'a>(
            &self,
            call: Call,
            arguments: &'a dyn Fn() -> Vec<(&'static str, Value)>,
        ) -> Result<(), DriverError>;
        fn after<'a>(&self, call: Call, error: Option<&'a DriverError>);
    }
}

/// A simulated machine whose parent's driver has a guard.
pub struct Guarded<'a> {
    sim: &'a SimBackend,
    guard: Cell<Option<MockGuard>>,
}

impl<'a> Guarded<'a> {
    pub fn new(sim: &'a SimBackend, guard: MockGuard) -> Self {
        Self { sim, guard: Cell::new(Some(guard)) }
    }
}

impl Backend for Guarded<'_> {
    fn name(&self) -> &'static str {
        self.sim.name()
    }

    fn profile(&self) -> Option<&str> {
        self.sim.profile()
    }

    fn driver(&self) -> Result<Box<dyn Driver>, BackendError> {
        let driver: Arc<dyn Driver> = self.sim.driver()?.into();
        let guard = self.guard.take().expect("a run opens its driver once");
        Ok(Box::new(Intercepted::new(driver, guard)))
    }

    fn worker(&self, worker: u32) -> Result<WorkerEndpoint, BackendError> {
        self.sim.worker(worker)
    }

    fn expected_devices(&self) -> usize {
        self.sim.expected_devices()
    }

    fn memory_limit(&self) -> Option<ByteSize> {
        self.sim.memory_limit()
    }
}

/// The calls that came to a guard. `true`: it let the call pass.
type Seen = Arc<Mutex<Vec<(Call, bool)>>>;

/// A guard that refuses the calls whose numbers, counted from 1, are `refused`.
fn guard(refused: impl Fn(usize) -> bool + Send + 'static, code: CuResult) -> (MockGuard, Seen) {
    let seen = Seen::default();
    let calls = Arc::clone(&seen);
    let mut guard = MockGuard::new();
    guard.expect_before().returning(move |call, _| {
        let mut calls = calls.lock().unwrap();
        let passes = !refused(calls.len() + 1);
        calls.push((call, passes));
        passes.then_some(()).ok_or(DriverError::refused(code))
    });
    guard.expect_after().return_const(());
    (guard, seen)
}

/// Whether what was made was given back, or at least its giving back was tried, as often as it was made.
fn assert_all_given_back(seen: &Seen, what: &str) {
    let seen = seen.lock().unwrap();
    let made = |made| seen.iter().filter(|(call, passed)| *call == made && *passed).count();
    let tried = |back| seen.iter().filter(|(call, _)| *call == back).count();
    for (call, back) in [
        (Call::cuMemCreate, Call::cuMemRelease),
        (Call::cuMemAlloc, Call::cuMemFree),
        (Call::cuEventCreate, Call::cuEventDestroy),
        (Call::cuStreamCreate, Call::cuStreamDestroy),
        (Call::cuMemPoolCreate, Call::cuMemPoolDestroy),
        (Call::cuMemAllocFromPoolAsync, Call::cuMemFreeAsync),
        (Call::cuCtxCreate, Call::cuCtxDestroy),
    ] {
        assert_eq!(made(call), tried(back), "{call}, {what}: {seen:?}");
    }
}

/// A run of which the parent's calls are refused that `refused` names, the first of which is `told`.
fn refuse(asked: &Scenario, told: Told, code: CuResult, refused: impl Fn(usize) -> bool + Send + 'static) {
    let Told { number, call, step } = told;
    let what = format!("call {number}, {call}, is refused with {code}");
    let sim = SimBackend::new("h200-x2");
    let (guard, seen) = guard(refused, code);
    let begun = Instant::now();
    let (result, _) = play(asked, &Guarded::new(&sim, guard));
    // The timeout is a minute: it was not what ended the run.
    assert!(begun.elapsed() < Duration::from_secs(30), "{what}: {:?}", begun.elapsed());
    let failure = result.map_or_else(|error| error.failure(), |report| report.failure.unwrap());
    let Failure { worker, call: failed, step: failed_in, exit_code, message, .. } = failure;
    assert_eq!((failed.as_deref(), failed_in.as_deref()), (Some(call.name()), Some(step)), "{what}: {message}");
    assert_eq!((worker, exit_code), (None, exit_code_of(call, code).code()), "{what}");
    assert!(message.contains("in the parent") && message.contains(&code.name()), "{what}: {message}");
    assert_all_given_back(&seen, &what);
    sim.assert_nothing_is_left();
}

fn with_peers() -> Scenario {
    memmap_ipc(&Options { enable_peers: true, ..options() })
}

fn without_peers() -> Scenario {
    memmap_ipc(&options())
}

pub fn a_parent_makes_the_calls_of_the_story() {
    for (asked, story) in [
        (without_peers(), story::of_parent()),
        (with_peers(), story::of_parent_with_peers()),
        (simple_ipc(&options()), story::of_simple_parent()),
        (pool_ipc(&options()), story::of_pool_parent()),
    ] {
        let sim = SimBackend::new("h200-x2");
        let (guard, seen) = guard(|_| false, CuResult::UNKNOWN);
        assert!(play(&asked, &Guarded::new(&sim, guard)).0.unwrap().ok);
        let made: Vec<Call> = seen.lock().unwrap().iter().map(|(call, _)| *call).collect();
        assert_eq!(made, story.iter().map(|told| told.call).collect::<Vec<_>>());
        assert_all_given_back(&seen, "a clean run");
        sim.assert_nothing_is_left();
    }
}

pub fn each_refused_call_of_a_parent_ends_the_run_and_is_named() {
    for told in story::of_parent() {
        for code in [CuResult::INVALID_VALUE, CuResult::OUT_OF_MEMORY] {
            refuse(&without_peers(), told, code, move |number| number == told.number);
        }
    }
}

pub fn each_refused_call_of_a_parent_with_contexts_ends_the_run_and_is_named() {
    for told in story::of_parent_with_peers() {
        for code in [CuResult::OUT_OF_MEMORY, CuResult::ILLEGAL_ADDRESS] {
            refuse(&with_peers(), told, code, move |number| number == told.number);
        }
    }
}

pub fn each_refused_call_of_a_parent_of_simple_ipc_ends_the_run_and_is_named() {
    for told in story::of_simple_parent() {
        for code in [CuResult::INVALID_VALUE, CuResult::ILLEGAL_ADDRESS] {
            refuse(&simple_ipc(&options()), told, code, move |number| number == told.number);
        }
    }
}

pub fn each_refused_call_of_a_parent_of_pool_ipc_ends_the_run_and_is_named() {
    for told in story::of_pool_parent() {
        refuse(&pool_ipc(&options()), told, CuResult::OUT_OF_MEMORY, move |number| number == told.number);
    }
}

pub fn a_fault_that_stays_is_named_by_the_call_that_met_it_first() {
    for told in story::of_parent_with_peers() {
        refuse(&with_peers(), told, CuResult::LAUNCH_FAILED, move |number| number >= told.number);
    }
}

/// The one refusal of a driver that ends no run: hardware that allows no more peers.
pub fn too_many_peers_cost_a_device_and_not_the_run() {
    let enabling = |told: &Told| told.call == Call::cuCtxEnablePeerAccess;
    let numbers: Vec<usize> =
        story::of_parent_with_peers().iter().filter(|told| enabling(told)).map(|told| told.number).collect();
    assert_eq!(numbers.len(), 2);
    for refused in numbers {
        let sim = SimBackend::new("h200-x2");
        let (guard, seen) = guard(move |number| number == refused, CuResult::TOO_MANY_PEERS);
        let report = play(&with_peers(), &Guarded::new(&sim, guard)).0.unwrap();
        assert_eq!((report.ok, report.workers.len(), report.rejected.len()), (true, 1, 1), "call {refused}");
        assert_eq!(report.rejected[0].device, "device 1");
        assert!(report.rejected[0].reason.contains("CUDA_ERROR_TOO_MANY_PEERS"), "{}", report.rejected[0].reason);
        assert_all_given_back(&seen, &format!("call {refused}"));
        sim.assert_nothing_is_left();
    }
}
