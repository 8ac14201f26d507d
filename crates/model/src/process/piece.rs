//! Work that runs as one piece.
//!
//! Nothing but events orders the work of one process among that of another. So where a wait runs several items on memory that
//! others have too, it runs them one after the other with nothing of another process between: any order is legal, and this
//! one shows for certain what code forgot that counts on processes taking turns item by item. A wait for another process
//! ends a piece: what comes before that process's mark must be able to run.

use peermap_driver::{DevicePtr, Result};

use super::copy::Operation;
use super::physical::unexpected;
use super::queue::{Plan, WorkId};
use super::{Outside, Process};
use crate::wire::{Answer, Ask};

/// How many items on shared memory make a piece.
const PIECE: usize = 2;

impl Process {
    /// Whether the next items of a plan, up to the next wait for another process, are to run as one piece.
    pub(super) fn is_piece(&self, plan: &Plan) -> bool {
        let next = plan.left().map_while(|work| self.until_wait(work));
        next.filter(|operation| self.touches_shared(operation)).take(PIECE).count() == PIECE
    }

    /// An item that is queued, unless it is a wait for another process.
    fn until_wait(&self, work: WorkId) -> Option<&Operation> {
        let operation = self.queue.operation(work).unwrap_or(&Operation::Join);
        (!matches!(operation, Operation::Await(_))).then_some(operation)
    }

    fn touches_shared(&self, operation: &Operation) -> bool {
        operation.names(|ptr, _| self.is_shared(ptr))
    }

    /// Whether other processes may have the memory at an address.
    fn is_shared(&self, ptr: DevicePtr) -> bool {
        self.legacy_at(ptr).is_some_and(|(_, allocation)| allocation.exported)
            || self.opened_at(ptr).is_some()
            || self.mapping_at(ptr).is_some()
            || self.pooled_at(ptr).is_some()
    }

    /// Whether this process may run a piece now. If not, another one does.
    ///
    /// # Errors
    /// If the machine cannot be asked.
    pub fn take_turn(&self, outside: &mut Outside<'_>) -> Result<bool> {
        match outside.machine.ask(Ask::TakeTurn)? {
            Answer::Done => Ok(true),
            Answer::NotYet => Ok(false),
            other => Err(unexpected(&other)),
        }
    }

    /// The piece has ended.
    ///
    /// # Errors
    /// If the machine cannot be told.
    pub fn give_turn(&self, outside: &mut Outside<'_>) -> Result<()> {
        outside.machine.ask(Ask::GiveTurn).map(|_| ())
    }
}
