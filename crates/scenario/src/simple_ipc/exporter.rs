//! The parent's side of the memory: `cuMemAlloc` and legacy handles.

use peermap_driver::{ByteSize, Context, Device, DevicePtr, Driver, Result};

use crate::relay::{self, Name};

/// What the parent allocated.
pub(super) struct Exporter<'d> {
    driver: &'d dyn Driver,
    buffers: Vec<(Context, DevicePtr)>,
}

impl<'d> Exporter<'d> {
    pub(super) const fn new(driver: &'d dyn Driver) -> Self {
        Self { driver, buffers: Vec::new() }
    }
}

impl relay::Exporter for Exporter<'_> {
    fn export(&mut self, _device: Device, context: Context, size: ByteSize) -> Result<Name> {
        let ptr = self.driver.mem_alloc(size)?;
        self.buffers.push((context, ptr));
        Ok(self.driver.ipc_get_mem_handle(ptr)?.0)
    }

    fn free(&mut self) -> Result<()> {
        let free = |(context, ptr)| self.driver.ctx_set_current(Some(context)).and(self.driver.mem_free(ptr));
        self.buffers.drain(..).map(free).fold(Ok(()), Result::and)
    }
}
