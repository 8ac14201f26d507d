//! Memory and events of the parent, as a worker opens them.

use peermap_driver::{ByteSize, DevicePtr, Driver, Event, IpcMemHandle, Result};

use super::board::Handles;
use crate::device_kernels::Buffer;
use crate::ring::Memory;

/// All buffers and events, open in the current context.
pub(super) struct Opened {
    size: ByteSize,
    buffers: Vec<DevicePtr>,
    events: Vec<Event>,
}

impl Opened {
    /// Opens them.
    pub(super) fn open(driver: &dyn Driver, handles: &[Handles], size: ByteSize) -> Result<Self> {
        let mut opened = Self { size, buffers: Vec::new(), events: Vec::new() };
        for Handles { memory, event } in handles {
            opened.buffers.push(driver.ipc_open_mem_handle(memory, IpcMemHandle::LAZY_ENABLE_PEER_ACCESS)?);
            opened.events.push(driver.ipc_open_event_handle(event)?);
        }
        Ok(opened)
    }

    /// The event of a buffer.
    pub(super) fn event(&self, number: u32) -> Event {
        self.events[number as usize]
    }
}

impl Memory for Opened {
    fn buffer(&self, number: u32) -> Buffer {
        Buffer { ptr: self.buffers[number as usize], size: self.size }
    }

    fn give_back(self, driver: &dyn Driver) -> Result<()> {
        self.buffers.into_iter().try_for_each(|ptr| driver.ipc_close_mem_handle(ptr))?;
        self.events.into_iter().try_for_each(|event| driver.event_destroy(event))
    }
}
