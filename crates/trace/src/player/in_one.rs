//! All processes of a trace in this OS process.

use super::compare::{Expected, Got};
use super::outcome::{Mismatch, Outcome};
use super::parcel::Parcel;
use super::process::{Numbers, Process};
use super::processes::{End, Processes, StartError};
use super::session::{Actor, Session, Stage};
use crate::format::{Step, Trace};

/// Plays traces in one OS process.
pub struct Player;

impl Player {
    /// Plays a trace step by step and compares every answer with the recording.
    ///
    /// A process starts at its first step, or when something is sent to it, and ends with the trace at the latest. A
    /// recorded `SIGSEGV` matches [`DriverError::WouldCrash`](peermap_driver::DriverError::WouldCrash) under the rule for
    /// handles that are gone or made up, and nothing else. After a mismatch the player goes on; steps that need a value
    /// that did not come to be are mismatches too.
    ///
    /// # Portability
    /// As [`InOne`].
    pub fn play(trace: &Trace, processes: &mut dyn Processes) -> Outcome {
        let mut session = Session::new(InOne::new(processes));
        let mut outcome = Outcome::default();
        for (index, step) in trace.steps.iter().enumerate() {
            let expected = Expected::from(step);
            let got = session.step(step);
            let differs = !got.matches(&expected);
            outcome.count(differs.then(|| Mismatch::new(&trace.header.name, index, step, got)));
        }
        outcome
    }
}

/// All processes of a trace in this OS process.
///
/// # Portability
/// All calls come from the calling thread. The processes share the numbers of descriptors: one that the trace has closed
/// may have a number that is in use again, and the driver gets 2147483647 for it, which is never open. A driver that
/// really follows a stale handle takes the whole OS process down with it.
pub struct InOne<'p> {
    backend: &'p mut dyn Processes,
}

impl<'p> InOne<'p> {
    /// A stage for the processes that `backend` starts.
    pub const fn new(backend: &'p mut dyn Processes) -> Self {
        Self { backend }
    }
}

impl Stage for InOne<'_> {
    type Actor = Process;

    fn start(&mut self, process: u32) -> Result<Process, StartError> {
        self.backend.start(process).map(|driver| Process::new(driver, Numbers::Shared))
    }

    fn end(&mut self, process: u32, actor: Process, how: End) {
        self.backend.end(process, actor.into_driver(), how);
    }
}

impl Actor for Process {
    fn play(&mut self, step: &Step) -> Got {
        Self::play(self, step.into())
    }

    fn give(&mut self, step: &Step) -> Result<Parcel, Got> {
        Self::give(self, step.into())
    }

    fn receive(&mut self, name: &str, parcel: Parcel) -> Result<(), Got> {
        Self::receive(self, name, parcel);
        Ok(())
    }
}
