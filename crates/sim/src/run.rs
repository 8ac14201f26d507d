//! Running queued work: when something waits for it, and after the grace when nothing does.

use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use peermap_driver::{DevicePtr, Result};
use peermap_ipc::stage::pause;
use peermap_model::{Operation, Outside, Plan, SharedWait, Wait, Work, WorkId};

use crate::operation::{Ended, Surroundings, execute};
use crate::process::{Inner, State};
use crate::tables::Tables;
use crate::turn::OwnTurn;

impl Inner {
    /// Runs what a wait waits for, and answers the fault if there was one.
    pub(crate) fn run(&self, plan: Plan) -> Result<()> {
        self.run_whatever_comes(plan)?;
        self.lock().process.check_fault()
    }

    /// Runs what a wait waits for. No lock is held while work runs. When this returns, whatever the result, none of that
    /// work runs or is queued any more: it may use memory that its caller frees next.
    ///
    /// # Errors
    /// Only if the simulation cannot go on; a fault of the work is kept in the process.
    pub(crate) fn run_whatever_comes(&self, mut plan: Plan) -> Result<()> {
        let turn = OwnTurn::default();
        let mut state = self.lock();
        loop {
            match state.process.next_work(&mut plan) {
                Ok(None) => return state.broken.clone().map_or(Ok(()), Err),
                Ok(Some(work)) => state = self.carry_out(state, work, &turn),
                Err(()) => {
                    if turn.is_held() {
                        // What another thread runs may wait for a process that waits for its turn.
                        drop(state);
                        turn.give();
                        state = self.lock();
                    } else {
                        state.waiting += 1;
                        state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                        state.waiting -= 1;
                    }
                }
            }
        }
    }

    /// Runs whatever is queued and can begin, and does not wait for the rest.
    pub(crate) fn run_what_can_begin(&self) {
        let turn = OwnTurn::default();
        let mut state = self.lock();
        let mut plan = state.process.plan(&Wait::Everything);
        state.helper_starts = false;
        while let Ok(Some(work)) = state.process.next_work(&mut plan) {
            state = self.carry_out(state, work, &turn);
        }
    }

    /// Carries out an item, without the lock.
    fn carry_out<'i>(
        &'i self,
        state: MutexGuard<'i, State>,
        Work { id, operation, in_piece }: Work,
        turn: &OwnTurn<'i>,
    ) -> MutexGuard<'i, State> {
        let code = state.code.of(&operation);
        drop(state);
        if in_piece {
            turn.take(self);
        } else {
            turn.give();
        }
        let ended = match operation {
            Operation::Await(mark) => self.see_through(&mark),
            _ => {
                let meanwhile = || {
                    turn.give();
                    self.let_others_work();
                };
                let buffer = |address| self.lock().process.buffer_at(DevicePtr::new(address));
                let surroundings = Surroundings { meanwhile: &meanwhile, buffer: &buffer, printer: &self.printer };
                let begun = Instant::now();
                let ended = execute(&self.memory, &operation, code.as_deref(), surroundings);
                let lag = self.memory.lag(operation.device(), begun.elapsed());
                if !lag.is_zero() {
                    std::thread::sleep(lag);
                }
                ended
            }
        };
        let mut state = self.lock();
        self.finish(&mut state, id, ended);
        // To notify is a call into the kernel, even where nobody waits.
        if state.waiting > 0 {
            self.changed.notify_all();
        }
        state
    }
}

impl Inner {
    /// Notes the end of an item.
    fn finish(&self, state: &mut State, work: WorkId, ended: Ended) {
        let now = self.now();
        let State { process, link, broken, .. } = state;
        let mut tables = Tables(&self.memory.tables);
        let mut outside = Outside { machine: &mut **link, tables: &mut tables };
        let told = match ended {
            Ended::Well => process.finish_work(&mut outside, work, Ok(now)),
            Ended::Faulted(fault) => process.finish_work(&mut outside, work, Err(fault)),
            Ended::Broken(error) => {
                broken.get_or_insert(error);
                let told = process.finish_work(&mut outside, work, Ok(now));
                told.and(process.abandon_work(&mut outside))
            }
        };
        if let Err(error) = told {
            broken.get_or_insert(error);
        }
    }

    /// Waits for a mark of another process, as the calling thread and not as an item of work.
    pub(crate) fn await_shared(&self, mark: &SharedWait) -> Result<()> {
        match self.see_through(mark) {
            Ended::Broken(error) => Err(error),
            Ended::Well | Ended::Faulted(_) => self.lock().process.check_fault(),
        }
    }

    /// Waits until a mark of another process has passed, and has that process run what comes before it. No lock is held
    /// meanwhile: that process may wait for this one.
    fn see_through(&self, mark: &SharedWait) -> Ended {
        loop {
            let (passed, recorder) = {
                let mut state = self.lock();
                let State { link, .. } = &mut *state;
                let mut tables = Tables(&self.memory.tables);
                let passed = mark.has_passed(&mut Outside { machine: &mut **link, tables: &mut tables });
                (passed, link.urge(mark))
            };
            match passed {
                Ok(true) => return Ended::Well,
                Ok(false) => {}
                Err(error) => return Ended::Broken(error),
            }
            match recorder {
                Some(recorder) => recorder.run_up_to(mark),
                None => pause(SHARED_EVENT_INTERVAL),
            }
        }
    }

    /// Runs what comes before a mark that another process waits for.
    pub(crate) fn run_up_to(&self, mark: &SharedWait) {
        let plan = self.lock().process.plan_for_mark(mark);
        // What goes wrong is kept in this process, where its next call finds it.
        drop(self.run_whatever_comes(plan));
    }
}

/// How often a process asks whether a mark of a process elsewhere has passed.
const SHARED_EVENT_INTERVAL: Duration = Duration::from_micros(100);
