//! What the parent holds: a context on each device, and a buffer and an event for each worker.

use std::os::fd::{AsFd, BorrowedFd};

use peermap_driver::{ByteSize, Context, Device, Driver, DriverError, Event, Result};

use super::board::{Board, Handles, Name};
use super::contexts::Contexts;
use crate::parent::{Plan, Supplies, SupplyError};

/// Flags of `cuEventCreate`: without timing and for other processes (`CU_EVENT_DISABLE_TIMING`, `CU_EVENT_INTERPROCESS`).
const SHARED_EVENT: u32 = 2 | 4;

/// Makes the memory of buffers and exports it.
pub(crate) trait Exporter {
    /// Makes one more buffer on a device, whose context is current, and gives what opens it in another process.
    fn export(&mut self, device: Device, context: Context, size: ByteSize) -> Result<Name>;

    /// Descriptors that workers need besides, in the order of the buffers.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    /// Closes these descriptors, once every worker has its own copies.
    fn close_descriptors(&mut self) {}

    /// Frees what there is, all of it; gives the first thing that went wrong.
    fn free(&mut self) -> Result<()>;
}

/// The contexts, buffers and events of a run. Whatever is left of them is given back when they are dropped.
pub(crate) struct Exports<'d, E: Exporter> {
    made: Made<'d, E>,
    /// Until every worker has its descriptor.
    board: Option<Board>,
}

/// What was made so far.
struct Made<'d, E: Exporter> {
    driver: &'d dyn Driver,
    contexts: Contexts<'d>,
    memory: E,
    events: Vec<(Context, Event)>,
}

impl<'d, E: Exporter> Exports<'d, E> {
    /// Makes a buffer and an event for each worker, on its device, and writes down what opens them.
    pub(crate) fn create(
        driver: &'d dyn Driver,
        plan: &Plan,
        size: ByteSize,
        memory: E,
    ) -> std::result::Result<Self, SupplyError> {
        let mut made = Made { driver, contexts: Contexts::new(driver), memory, events: Vec::new() };
        let mut handles = Vec::new();
        for worker in 0..plan.workers {
            handles.push(made.add(plan.device_of(worker).device, size)?);
        }
        let board = Some(Board::write(&handles)?);
        Ok(Self { made, board })
    }
}

impl<E: Exporter> Supplies for Exports<'_, E> {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.board.iter().map(AsFd::as_fd).chain(self.made.memory.descriptors()).collect()
    }

    fn close_descriptors(&mut self) {
        self.board = None;
        self.made.memory.close_descriptors();
    }

    fn release(&mut self) -> std::result::Result<(), DriverError> {
        self.made.give_back()
    }
}

impl<E: Exporter> Made<'_, E> {
    /// One more buffer with its event.
    fn add(&mut self, device: Device, size: ByteSize) -> Result<Handles> {
        let context = self.contexts.enter(device)?;
        let memory = self.memory.export(device, context, size)?;
        let event = self.driver.event_create(SHARED_EVENT)?;
        self.events.push((context, event));
        Ok(Handles { memory, event: self.driver.ipc_get_event_handle(event)? })
    }

    /// Gives everything back, and the first thing that went wrong.
    fn give_back(&mut self) -> Result<()> {
        let driver = self.driver;
        let destroy = |(context, event)| driver.ctx_set_current(Some(context)).and(driver.event_destroy(event));
        let freed = self.memory.free();
        let destroyed = self.events.drain(..).map(destroy).fold(freed, Result::and);
        destroyed.and(self.contexts.destroy())
    }
}

impl<E: Exporter> Drop for Made<'_, E> {
    fn drop(&mut self) {
        // If there is anything left, the run has failed already, and that failure is the one to report.
        let _ = self.give_back();
    }
}
