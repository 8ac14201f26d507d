//! The turn of a process: while it has it, no other process runs work as one piece.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use peermap_driver::Result;
use peermap_ipc::stage::pause;
use peermap_model::{Outside, Process};

use crate::process::{Inner, State};
use crate::tables::Tables;

/// The turn of a process, for as long as this lives. Threads of one process share it.
pub(crate) struct Turn<'i>(&'i Inner);

impl Inner {
    /// Waits for the turn. The caller holds no lock.
    pub(crate) fn turn(&self) -> Turn<'_> {
        while !self.try_turn() {
            pause(TURN_INTERVAL);
        }
        Turn(self)
    }

    fn try_turn(&self) -> bool {
        let mut state = self.lock();
        // A machine that is gone says so at the next question; until then nobody else has a turn either.
        let taken = state.in_turn > 0 || self.ask_for_turn(&mut state, Process::take_turn).unwrap_or(true);
        state.in_turn += u32::from(taken);
        taken
    }

    fn ask_for_turn<T>(
        &self,
        state: &mut State,
        ask: impl FnOnce(&Process, &mut Outside<'_>) -> Result<T>,
    ) -> Result<T> {
        let State { process, link, .. } = state;
        let mut tables = Tables(&self.memory.tables);
        ask(process, &mut Outside { machine: &mut **link, tables: &mut tables })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.in_turn -= 1;
        if state.in_turn == 0 {
            // As above.
            drop(self.0.ask_for_turn(&mut state, Process::give_turn));
        }
    }
}

/// The turn of whoever runs work, while the work is one piece.
#[derive(Default)]
pub(crate) struct OwnTurn<'i>(Mutex<Option<Turn<'i>>>);

impl<'i> OwnTurn<'i> {
    /// Waits for the turn, unless it is held. The caller holds no lock.
    pub(crate) fn take(&self, process: &'i Inner) {
        let mut turn = self.turn();
        if turn.is_none() {
            *turn = Some(process.turn());
        }
    }

    /// Lets others have their turn. The caller holds no lock.
    pub(crate) fn give(&self) {
        let turn = self.turn().take();
        drop(turn);
    }

    pub(crate) fn is_held(&self) -> bool {
        self.turn().is_some()
    }

    fn turn(&self) -> MutexGuard<'_, Option<Turn<'i>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How often a process asks whether another one's turn has ended.
const TURN_INTERVAL: Duration = Duration::from_micros(100);
