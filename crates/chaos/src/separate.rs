//! A plan, played by processes of their own.

use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;
use std::{process, thread};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use peermap_driver::{ByteSize, Driver, Intercepted, Uuid};
use peermap_ipc::{Channel, Deadline, Tap, limits, pause_process};
use peermap_report::{Account, Event};
use peermap_scenario::{
    Backend, BackendError, EndOfMachine, Launcher, Options, Scenario, WorkerEndpoint, run, worker_main,
};

use crate::fault::{Fault, Who};
use crate::judge::{Outcome, may_be};
use crate::one::outcome;
use crate::plan::Plan;
use crate::saboteur::{Power, Saboteur};

/// What faults do to the process that they happen in.
enum Own {
    /// A worker: a process by itself.
    Worker,
    /// The parent: a thread beside others that play other plans.
    Parent,
}

impl Power for Own {
    fn event(&self, _what: fmt::Arguments<'_>) {}

    fn kill(&self) -> ! {
        // Whatever happens, this process does not go on.
        let _ = kill(Pid::this(), Signal::SIGKILL);
        process::abort()
    }

    fn stop(&self, time: Duration) {
        match self {
            // A process that cannot be stopped goes on: then nothing goes wrong.
            Self::Worker => drop(pause_process(time)),
            Self::Parent => thread::sleep(time),
        }
    }

    fn allow_files(&self, more: u32) {
        // A process that cannot count its files goes on without a limit: then nothing goes wrong.
        let Ok(open) = limits::open_descriptors() else { return };
        if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
            let _ = setrlimit(Resource::RLIMIT_NOFILE, open as u64 + u64::from(more), hard);
        }
    }
}

/// A backend whose processes have faults.
struct Sabotaged<'b> {
    backend: &'b dyn Backend,
    plan: &'b Plan,
    parent: Arc<Saboteur<Own>>,
}

impl Sabotaged<'_> {
    /// What a worker needs, with its faults.
    fn with_faults(&self, worker: u32, endpoint: WorkerEndpoint) -> WorkerEndpoint {
        let faults = self.plan.of(Who::Worker(worker));
        let told = faults.iter().flat_map(|fault| ["--fault".to_owned(), fault.to_string()]);
        WorkerEndpoint { args: endpoint.args.into_iter().chain(told).collect(), ..endpoint }
    }
}

impl Backend for Sabotaged<'_> {
    fn name(&self) -> &'static str {
        self.backend.name()
    }

    fn profile(&self) -> Option<&str> {
        self.backend.profile()
    }

    fn driver(&self) -> Result<Box<dyn Driver>, BackendError> {
        let driver: Arc<dyn Driver> = self.backend.driver()?.into();
        Ok(Box::new(Intercepted::new(driver, Arc::clone(&self.parent))))
    }

    fn worker(&self, worker: u32) -> Result<WorkerEndpoint, BackendError> {
        self.backend.worker(worker).map(|endpoint| self.with_faults(worker, endpoint))
    }

    fn worker_beside(&self, worker: u32, device: Uuid) -> Result<WorkerEndpoint, BackendError> {
        self.backend.worker_beside(worker, device).map(|endpoint| self.with_faults(worker, endpoint))
    }

    fn expected_devices(&self) -> usize {
        self.plan.devices as usize
    }

    fn memory_limit(&self) -> Option<ByteSize> {
        self.backend.memory_limit()
    }

    fn tap(&self) -> Option<Arc<dyn Tap>> {
        Some(Arc::clone(&self.parent) as Arc<dyn Tap>)
    }

    fn account(&self, deadline: Deadline) -> Option<Account> {
        self.backend.account(deadline)
    }

    fn lifeline(&self) -> Option<OwnedFd> {
        self.backend.lifeline()
    }

    fn end_of_machine(&self) -> Option<EndOfMachine> {
        self.backend.end_of_machine()
    }
}

/// Plays a plan with processes of their own, for `patience` at most; gives how the run ended, and what was wrong about that.
///
/// Call it from a thread that lives as long as the processes shall.
pub fn separate(
    scenario: &dyn Fn(Options) -> Scenario,
    backend: &dyn Backend,
    launcher: &Launcher,
    plan: &Plan,
    patience: Duration,
) -> (Outcome, Option<String>) {
    let parent = Arc::new(Saboteur::new(Own::Parent, plan.of(Who::Parent)));
    let sabotaged = Sabotaged { backend, plan, parent };
    let scenario = scenario(Options { timeout: patience, ..plan.options() });
    let outcome = outcome(run(&scenario, &sabotaged, launcher, &mut |_: &Event| {}));
    let wrong = may_be(&outcome, &plan.faults);
    (outcome, wrong)
}

/// A worker that faults happen to. As [`worker_main`].
pub fn worker_with_faults(
    channel: Channel,
    faults: Vec<Fault>,
    open: impl FnOnce() -> Result<Box<dyn Driver>, String>,
) -> i32 {
    let saboteur = Arc::new(Saboteur::new(Own::Worker, faults));
    let tapped = channel.tapped(Arc::clone(&saboteur) as Arc<dyn Tap>);
    worker_main(tapped, || {
        let driver: Arc<dyn Driver> = open()?.into();
        Ok(Box::new(Intercepted::new(driver, saboteur)))
    })
}
