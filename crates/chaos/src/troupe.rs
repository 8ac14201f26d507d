//! A backend whose workers are played on a stage.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use peermap_driver::{ByteSize, Driver, Intercepted};
use peermap_ipc::{Channel, Child, Tap};
use peermap_scenario::{Backend, BackendError, Troupe, WorkerEndpoint, worker_main};
use peermap_sim::{SimMachine, SimProcess};

use crate::fault::Who;
use crate::plan::Plan;
use crate::saboteur::{Power, Saboteur, Tally};
use crate::theatre::Seat;
use crate::witness::{Full, Witness};

/// What the faults of a seat do.
pub(crate) struct OnStage(Seat);

impl Power for OnStage {
    fn event(&self, what: fmt::Arguments<'_>) {
        self.0.say(what);
        self.0.turn();
    }

    fn kill(&self) -> ! {
        self.0.kill()
    }

    fn stop(&self, time: Duration) {
        self.0.stop(time);
    }

    /// The limit of the one OS process would be that of all.
    fn allow_files(&self, _more: u32) {}

    fn is_dead(&self) -> bool {
        self.0.is_dead()
    }
}

type Staged = Saboteur<OnStage>;

/// One worker, from outside.
struct Played {
    worker: u32,
    saboteur: Arc<Staged>,
    witness: Arc<Witness>,
}

/// Ends the process that a witness looks at, however its thread ends.
struct Leaves(Arc<Witness>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// A machine and those who play the processes that use it.
pub(crate) struct Company {
    machine: SimMachine,
    profile: String,
    seat: Seat,
    plan: Plan,
    parent: Arc<Staged>,
    workers: Mutex<Vec<Played>>,
}

impl Company {
    pub(crate) fn new(machine: SimMachine, profile: &str, seat: Seat, plan: &Plan) -> Self {
        let parent = Arc::new(Saboteur::new(OnStage(seat.clone()), plan.of(Who::Parent)));
        let (profile, plan) = (profile.to_owned(), plan.clone());
        Self { machine, profile, seat, plan, parent, workers: Mutex::default() }
    }

    fn workers(&self) -> MutexGuard<'_, Vec<Played>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What each process did, the parent first.
    pub(crate) fn tallies(&self) -> Vec<(Who, Tally)> {
        let workers = self.workers();
        let workers = workers.iter().map(|it| (Who::Worker(it.worker), it.saboteur.tally()));
        std::iter::once((Who::Parent, self.parent.tally())).chain(workers).collect()
    }

    /// What each worker saw in its memory at the end.
    pub(crate) fn seen(&self) -> Vec<Vec<Full>> {
        self.workers().iter().filter_map(|it| it.witness.seen()).collect()
    }
}

fn process(machine: &SimMachine) -> Result<SimProcess, BackendError> {
    machine.process().map_err(|error| BackendError::new("sim", error))
}

impl Backend for Company {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn profile(&self) -> Option<&str> {
        Some(&self.profile)
    }

    fn driver(&self) -> Result<Box<dyn Driver>, BackendError> {
        Ok(Box::new(Intercepted::new(process(&self.machine)?, Arc::clone(&self.parent))))
    }

    fn worker(&self, _worker: u32) -> Result<WorkerEndpoint, BackendError> {
        Ok(WorkerEndpoint::default())
    }

    fn expected_devices(&self) -> usize {
        self.plan.devices as usize
    }

    fn memory_limit(&self) -> Option<ByteSize> {
        None
    }

    fn troupe(&self) -> Option<&dyn Troupe> {
        Some(self)
    }

    fn tap(&self) -> Option<Arc<dyn Tap>> {
        Some(Arc::clone(&self.parent) as Arc<dyn Tap>)
    }
}

impl Troupe for Company {
    fn play(&self, worker: u32, channel: Channel) -> Result<Child, BackendError> {
        let who = Who::Worker(worker);
        let seat = self.seat.beside(who);
        let saboteur = Arc::new(Saboteur::new(OnStage(seat.clone()), self.plan.of(who)));
        let witness = Arc::new(Witness::default());
        self.workers().push(Played { worker, saboteur: Arc::clone(&saboteur), witness: Arc::clone(&witness) });
        let machine = self.machine.clone();
        let work = move || {
            let leaves = Leaves(witness);
            let open = || {
                let process = process(&machine).map_err(|error| error.to_string())?;
                leaves.0.come(process.clone());
                let seen = Intercepted::new(process, Arc::clone(&leaves.0));
                Ok(Box::new(Intercepted::new(seen, Arc::clone(&saboteur))) as Box<dyn Driver>)
            };
            worker_main(channel.tapped(Arc::clone(&saboteur) as Arc<dyn Tap>), open)
        };
        seat.play(work).map(Child::played).map_err(|error| BackendError::new("sim", error))
    }
}
