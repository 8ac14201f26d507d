//! What the parent holds: a context on each device, and a buffer and an event for each worker.

use std::os::fd::{AsFd, BorrowedFd};

use peermap_driver::{ByteSize, Context, Device, DevicePtr, Driver, DriverError, Event};

use super::board::{Board, Handles};
use crate::parent::{Plan, Supplies, SupplyError};

/// Flags of `cuEventCreate`: without timing and for other processes (`CU_EVENT_DISABLE_TIMING`, `CU_EVENT_INTERPROCESS`).
const SHARED_EVENT: u32 = 2 | 4;

/// The contexts, buffers and events of a run. Whatever is left of them is given back when they are dropped.
pub(super) struct Buffers<'d> {
    made: Made<'d>,
    /// Until every worker has its descriptor.
    board: Option<Board>,
}

/// What was made so far.
struct Made<'d> {
    driver: &'d dyn Driver,
    contexts: Vec<(Device, Context)>,
    buffers: Vec<(Context, DevicePtr)>,
    events: Vec<(Context, Event)>,
}

impl<'d> Buffers<'d> {
    /// Makes a buffer and an event for each worker, on its device, and writes their handles down.
    pub(super) fn create(driver: &'d dyn Driver, plan: &Plan, size: ByteSize) -> Result<Self, SupplyError> {
        let mut made = Made { driver, contexts: Vec::new(), buffers: Vec::new(), events: Vec::new() };
        let mut handles = Vec::new();
        for worker in 0..plan.workers {
            handles.push(made.add(plan.device_of(worker).device, size)?);
        }
        let board = Some(Board::write(&handles)?);
        Ok(Self { made, board })
    }
}

impl Supplies for Buffers<'_> {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.board.iter().map(AsFd::as_fd).collect()
    }

    fn close_descriptors(&mut self) {
        self.board = None;
    }

    fn release(mut self: Box<Self>) -> Result<(), DriverError> {
        self.made.give_back()
    }
}

impl Made<'_> {
    /// One more buffer with its event.
    fn add(&mut self, device: Device, size: ByteSize) -> Result<Handles, DriverError> {
        let driver = self.driver;
        let context = self.enter(device)?;
        let ptr = driver.mem_alloc(size)?;
        self.buffers.push((context, ptr));
        let event = driver.event_create(SHARED_EVENT)?;
        self.events.push((context, event));
        Ok(Handles { memory: driver.ipc_get_mem_handle(ptr)?, event: driver.ipc_get_event_handle(event)? })
    }

    /// Makes the context of a device current, and makes it if there is none.
    fn enter(&mut self, device: Device) -> Result<Context, DriverError> {
        if let Some((_, context)) = self.contexts.iter().find(|(known, _)| *known == device) {
            self.driver.ctx_set_current(Some(*context))?;
            return Ok(*context);
        }
        let context = self.driver.ctx_create(0, device)?;
        self.contexts.push((device, context));
        Ok(context)
    }

    /// Gives everything back, and the first thing that went wrong.
    fn give_back(&mut self) -> Result<(), DriverError> {
        let driver = self.driver;
        let mut result = Ok(());
        let mut note = |done: Result<(), DriverError>| {
            if result.is_ok() {
                result = done;
            }
        };
        for (context, ptr) in self.buffers.drain(..) {
            note(driver.ctx_set_current(Some(context)));
            note(driver.mem_free(ptr));
        }
        for (context, event) in self.events.drain(..) {
            note(driver.ctx_set_current(Some(context)));
            note(driver.event_destroy(event));
        }
        for (_, context) in self.contexts.drain(..) {
            note(driver.ctx_destroy(context));
        }
        result
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        // If there is anything left, the run has failed already, and that failure is the one to report.
        let _ = self.give_back();
    }
}
