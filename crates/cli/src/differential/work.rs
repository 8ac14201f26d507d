//! Several traces at once.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use std::thread;
use std::time::Instant;

use peermap_trace::{Machine, Shrunk, Trace, shrink};

use super::args::Differential;
use super::compare::{Difference, answer_again, compare};
use super::report::report;
use crate::generate::Source;
use crate::play::Place;
use crate::refusal::Refusal;
use crate::replay::must_run_alone;

/// What came of all traces.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) traces: u64,
    pub(super) steps: usize,
    pub(super) differ: u64,
}

/// What all traces have in common.
pub(super) struct Work<'a> {
    pub(super) source: Source,
    pub(super) simulated: Place,
    pub(super) place: Place,
    pub(super) machine: Machine,
    pub(super) arguments: &'a Differential,
    pub(super) until: Option<Instant>,
}

impl Work<'_> {
    /// Plays every trace, until the time is up.
    pub(super) fn all(&self) -> Result<Counts, Refusal> {
        let (next, counts, machine) = (AtomicU64::new(0), Mutex::new(Counts::default()), RwLock::new(()));
        let work = || -> Result<(), Refusal> {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= self.arguments.random.traces || self.is_late() {
                    return Ok(());
                }
                self.one(number, &machine, &counts)?;
            }
        };
        let done: Result<(), Refusal> = thread::scope(|scope| {
            let workers: Vec<_> = (0..self.arguments.jobs).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        done.map(|()| counts.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn one(&self, number: u64, machine: &RwLock<()>, counts: &Mutex<Counts>) -> Result<(), Refusal> {
        let trace = self.source.trace(number)?;
        let steps = trace.steps.len();
        let alone = must_run_alone(&trace);
        let _others = (!alone).then(|| machine.read().unwrap_or_else(PoisonError::into_inner));
        let _nobody = alone.then(|| machine.write().unwrap_or_else(PoisonError::into_inner));
        let difference = compare(&self.place, &trace)?;
        {
            let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
            counts.traces += 1;
            counts.steps += steps;
            counts.differ += u64::from(difference.is_some());
        }
        match difference {
            Some(difference) => self.difference(&trace, difference),
            None => Ok(()),
        }
    }

    /// Shrinks a difference, writes it and prints it.
    fn difference(&self, whole: &Trace, first: Difference) -> Result<(), Refusal> {
        let kind = first.kind();
        let mut shortest = first;
        let mut failed = None;
        let cut = shortest.trace.clone();
        let Shrunk { tries, is_minimal, .. } = shrink(cut, self.arguments.tries, |rest| {
            if failed.is_some() || self.is_late() {
                return None;
            }
            let again = || -> Result<Option<Difference>, Refusal> {
                let Some(rest) = answer_again(&self.simulated, rest)? else { return Ok(None) };
                compare(&self.place, &rest)
            };
            match again() {
                Ok(Some(found)) if found.kind() == kind => {
                    let trace = found.trace.clone();
                    shortest = found;
                    Some(trace)
                }
                Ok(_) => None,
                Err(refusal) => {
                    failed = Some(refusal);
                    None
                }
            }
        });
        match failed {
            Some(refusal) => Err(refusal),
            None => report(self, whole, shortest, (tries, is_minimal && !self.is_late())),
        }
    }
}
