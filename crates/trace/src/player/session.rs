//! The player: one trace from its first step to its last.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::calls;
use super::compare::{Expected, Got};
use super::error::PlayError;
use super::outcome::{Mismatch, Outcome};
use super::process::Process;
use super::processes::{End, Processes};
use crate::format::{Step, Trace};
use crate::result::StepResult;

/// Plays traces in one OS process.
pub struct Player;

impl Player {
    /// Plays a trace step by step and compares every answer with the recording.
    ///
    /// A process starts at its first step, or when something is sent to it, and ends with the trace at the latest. A
    /// recorded `SIGSEGV` matches [`DriverError::WouldCrash`](peermap_driver::DriverError::WouldCrash) and nothing
    /// else, and ends the process. After a mismatch the player goes on; steps that need a value that did not come to
    /// be are mismatches too.
    ///
    /// # Portability
    /// The processes of the trace share this OS process, and all of their calls come from the calling thread. So a
    /// descriptor that the trace has closed may have a number that is in use again; the driver gets 2147483647 for it,
    /// which is never open. On a driver that really follows a stale handle the whole player would crash.
    pub fn play(trace: &Trace, processes: &mut dyn Processes) -> Outcome {
        let mut session = Session { backend: processes, processes: BTreeMap::new() };
        let mut outcome = Outcome::default();
        for (index, step) in trace.steps.iter().enumerate() {
            let expected = Expected { result: step.result, out: step.out.clone() };
            let got = session.step(step);
            outcome.count((!got.matches(&expected)).then(|| Mismatch::new(trace, index, expected, got)));
        }
        session.end_all();
        outcome
    }
}

/// The processes of a trace while it plays.
pub(super) struct Session<'p> {
    backend: &'p mut dyn Processes,
    /// `None`: the process has ended, or it could not be started.
    processes: BTreeMap<u32, Option<Process>>,
}

impl Session<'_> {
    fn step(&mut self, step: &Step) -> Got {
        let answered = match step.call.os_step() {
            Some(os_step) => calls::os_step(self, os_step, step),
            None => match self.process(step.process) {
                Ok(process) => calls::driver_call(process, step),
                Err(error) => Err(error.into()),
            },
        };
        let got = Got::new(step.call, answered);
        if step.result == StepResult::SegmentationFault && matches!(got, Got::WouldCrash(_)) {
            self.end(step.process, End::Kill);
        }
        got
    }

    /// A process that runs; it is started if this is its first step.
    pub(super) fn process(&mut self, number: u32) -> Result<&mut Process, PlayError> {
        let process = match self.processes.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => match self.backend.start(number) {
                Ok(driver) => new.insert(Some(Process::new(driver))),
                Err(source) => {
                    new.insert(None);
                    return Err(PlayError::Start { process: number, source });
                }
            },
        };
        process.as_mut().ok_or(PlayError::NotRunning { process: number })
    }

    /// Ends a process that runs: first its descriptors go, then its driver.
    pub(super) fn end(&mut self, number: u32, how: End) {
        if let Some(Process { driver, values, .. }) = self.processes.get_mut(&number).and_then(Option::take) {
            drop(values);
            self.backend.end(number, driver, how);
        }
    }

    fn end_all(&mut self) {
        let numbers: Vec<u32> = self.processes.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.end(number, End::Exit));
    }
}
