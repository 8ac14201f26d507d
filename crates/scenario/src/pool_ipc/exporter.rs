//! The parent's side of the memory: a pool for each buffer.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use peermap_driver::{
    ByteSize, Context, CuResult, Device, DevicePtr, Driver, DriverError, HandleType, MemPool, MemPoolProps, Result,
    Stream,
};

use super::Handles;
use crate::relay::{self, Name};
use crate::workplace::NON_BLOCKING;

/// How pools are shared.
pub(super) const HANDLE_TYPE: HandleType = HandleType::POSIX_FILE_DESCRIPTOR;

/// The pools that were made, and what was allocated from them.
pub(super) struct Exporter<'d> {
    driver: &'d dyn Driver,
    handles: Handles,
    streams: Vec<(Context, Stream)>,
    pools: Vec<MemPool>,
    buffers: Vec<(Context, Stream, DevicePtr)>,
    descriptors: Vec<OwnedFd>,
}

impl<'d> Exporter<'d> {
    pub(super) fn new(driver: &'d dyn Driver, handles: Handles) -> Self {
        let (streams, pools, buffers, descriptors) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { driver, handles, streams, pools, buffers, descriptors }
    }

    /// Allocates a buffer from a pool of its own. It is there for all streams once this returns.
    fn allocate(&mut self, device: Device, context: Context, size: ByteSize) -> Result<(MemPool, DevicePtr)> {
        let driver = self.driver;
        let stream = driver.stream_create(NON_BLOCKING)?;
        self.streams.push((context, stream));
        let pool = driver.mem_pool_create(&MemPoolProps::pinned_on(device.0, HANDLE_TYPE))?;
        self.pools.push(pool);
        let ptr = driver.mem_alloc_from_pool_async(size, pool, stream)?;
        self.buffers.push((context, stream, ptr));
        driver.stream_synchronize(stream)?;
        Ok((pool, ptr))
    }
}

impl relay::Exporter for Exporter<'_> {
    fn export(&mut self, device: Device, context: Context, size: ByteSize) -> Result<Name> {
        let (pool, ptr) = self.allocate(device, context, size)?;
        if self.handles == Handles::Legacy {
            return Ok(self.driver.ipc_get_mem_handle(ptr)?.0);
        }
        // The pool first: of one that was not exported no pointer can be.
        let exported = self.driver.mem_pool_export_to_shareable_handle(pool, HANDLE_TYPE, 0)?;
        // No driver answers a wish for a descriptor with anything else.
        self.descriptors.push(exported.into_posix_fd().ok_or(DriverError::refused(CuResult::UNKNOWN))?);
        Ok(self.driver.mem_pool_export_pointer(ptr)?.0)
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.descriptors.iter().map(AsFd::as_fd).collect()
    }

    fn close_descriptors(&mut self) {
        self.descriptors.clear();
    }

    fn free(&mut self) -> Result<()> {
        let driver = self.driver;
        let free = |(context, stream, ptr)| {
            let freed = driver.ctx_set_current(Some(context)).and(driver.mem_free_async(ptr, stream));
            freed.and(driver.stream_synchronize(stream))
        };
        let destroy = |(context, stream)| driver.ctx_set_current(Some(context)).and(driver.stream_destroy(stream));
        let freed = self.buffers.drain(..).map(free).fold(Ok(()), Result::and);
        let destroyed = self.streams.drain(..).map(destroy).fold(freed, Result::and);
        self.pools.drain(..).map(|pool| driver.mem_pool_destroy(pool)).fold(destroyed, Result::and)
    }
}
