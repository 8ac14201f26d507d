//! Memory and events of the parent, as a worker has them.

use peermap_driver::{ByteSize, DevicePtr, Driver, Event, Result};

use super::board::{Handles, Name};
use crate::device_kernels::Buffer;
use crate::ring::Memory;

/// Imports the memory of buffers that the parent exported.
pub(crate) trait Importer {
    /// Imports one more buffer, in the order of their numbers, into the current context.
    fn import(&mut self, name: &Name) -> Result<DevicePtr>;

    /// Gives all buffers back.
    fn give_back(self, buffers: &[DevicePtr]) -> Result<()>;
}

/// All buffers and events, open in the current context.
pub(super) struct Imports<I> {
    memory: I,
    size: ByteSize,
    buffers: Vec<DevicePtr>,
    events: Vec<Event>,
}

impl<I: Importer> Imports<I> {
    /// Opens them.
    pub(super) fn open(driver: &dyn Driver, memory: I, handles: &[Handles], size: ByteSize) -> Result<Self> {
        let mut imports = Self { memory, size, buffers: Vec::new(), events: Vec::new() };
        for Handles { memory, event } in handles {
            imports.buffers.push(imports.memory.import(memory)?);
            imports.events.push(driver.ipc_open_event_handle(event)?);
        }
        Ok(imports)
    }

    /// The event of a buffer.
    pub(super) fn event(&self, number: u32) -> Event {
        self.events[number as usize]
    }
}

impl<I: Importer> Memory for Imports<I> {
    fn buffer(&self, number: u32) -> Buffer {
        Buffer { ptr: self.buffers[number as usize], size: self.size }
    }

    fn give_back(self, driver: &dyn Driver) -> Result<()> {
        self.memory.give_back(&self.buffers)?;
        self.events.into_iter().try_for_each(|event| driver.event_destroy(event))
    }
}
