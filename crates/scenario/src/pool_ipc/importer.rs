//! The worker's side of the memory: it imports pools and pointers, and frees them in the order of its stream.

use std::os::fd::{AsFd, OwnedFd};
use std::vec::IntoIter;

use peermap_driver::{
    AccessDesc, AccessFlags, CuResult, Device, DevicePtr, Driver, DriverError, Location, MemPool, MemPoolPtrExportData,
    Result, Stream,
};

use super::exporter::HANDLE_TYPE;
use crate::relay::{self, Name};

/// Imports pools and what was allocated from them.
pub(super) struct Importer<'d> {
    driver: &'d dyn Driver,
    device: Device,
    stream: Stream,
    /// Those of the pools that are not imported yet.
    descriptors: IntoIter<OwnedFd>,
    pools: Vec<MemPool>,
}

impl<'d> Importer<'d> {
    /// For work of a device on a stream; a descriptor for each buffer.
    pub(super) fn new(driver: &'d dyn Driver, device: Device, stream: Stream, descriptors: Vec<OwnedFd>) -> Self {
        Self { driver, device, stream, descriptors: descriptors.into_iter(), pools: Vec::new() }
    }

    /// Lets the device in. A pool's own has access from the start.
    fn allow(&self, pool: MemPool) -> Result<()> {
        let allowed = self.driver.mem_pool_get_access(pool, Location::device(self.device.0))?;
        if allowed == AccessFlags::READWRITE {
            return Ok(());
        }
        self.driver.mem_pool_set_access(pool, &[AccessDesc::read_write(self.device.0)])
    }
}

impl relay::Importer for Importer<'_> {
    fn import(&mut self, name: &Name) -> Result<DevicePtr> {
        // The parent exported a pool for each pointer.
        let descriptor = self.descriptors.next().ok_or(DriverError::refused(CuResult::INVALID_HANDLE))?;
        let pool = self.driver.mem_pool_import_from_shareable_handle(descriptor.as_fd().into(), HANDLE_TYPE, 0)?;
        self.pools.push(pool);
        self.allow(pool)?;
        self.driver.mem_pool_import_pointer(pool, &MemPoolPtrExportData(*name))
    }

    fn give_back(self, buffers: &[DevicePtr]) -> Result<()> {
        buffers.iter().try_for_each(|ptr| self.driver.mem_free_async(*ptr, self.stream))?;
        // The parent frees the same memory once all workers have given it back, and must not come first.
        self.driver.stream_synchronize(self.stream)?;
        self.pools.iter().try_for_each(|pool| self.driver.mem_pool_destroy(*pool))
    }
}
