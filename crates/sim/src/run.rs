//! Running queued work: when something waits for it, and after the grace when nothing does.

use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use peermap_driver::{DriverError, Result};
use peermap_model::{Plan, Wait, Work};

use crate::operation::{Ended, execute};
use crate::process::Inner;

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
        let mut state = self.lock();
        loop {
            match state.process.next_work(&mut plan) {
                Ok(None) => return state.broken.clone().map_or(Ok(()), Err),
                Err(()) => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Ok(Some(Work { id, operation })) => {
                    let code = state.code.of(&operation);
                    drop(state);
                    let ended = execute(&self.memory, &operation, code.as_deref());
                    state = self.lock();
                    match ended {
                        Ended::Well => state.process.finish_work(id, Ok(self.now())),
                        Ended::Faulted(fault) => state.process.finish_work(id, Err(fault)),
                        Ended::NoHostMemory(what) => {
                            state.broken.get_or_insert(DriverError::Host { what });
                            state.process.finish_work(id, Ok(self.now()));
                            state.process.abandon_work();
                        }
                    }
                    self.changed.notify_all();
                }
            }
        }
    }
}

/// Starts the thread that runs work which nobody has waited for during the grace. It ends with the process.
pub(crate) fn start_service(inner: &Arc<Inner>, grace: Duration) {
    let process = Arc::downgrade(inner);
    // Without a thread the work runs when something waits for it, as it mostly does anyway.
    let _started = std::thread::Builder::new().name("peermap-work".to_owned()).spawn(move || serve(&process, grace));
}

fn serve(process: &Weak<Inner>, grace: Duration) {
    while let Some(inner) = process.upgrade() {
        let plan = {
            let mut state = inner.lock();
            state.process.has_work().then(|| state.process.plan(&Wait::Everything))
        };
        drop(inner);
        std::thread::sleep(grace);
        let (Some(plan), Some(inner)) = (plan, process.upgrade()) else { continue };
        // What goes wrong is kept in the process, where the next call finds it.
        drop(inner.run_whatever_comes(plan));
    }
}
