//! Memory of the host that names no node, which no other process can get.

use peermap_driver::{AllocationProp, ByteSize, DevicePtr, Driver, HandleType, Location, LocationType, Result};

use crate::device_kernels::Buffer;

/// Memory of a worker alone, mapped for nobody yet.
pub(super) struct Unshared<'d> {
    driver: &'d dyn Driver,
    pub(super) buffer: Buffer,
}

impl<'d> Unshared<'d> {
    /// Allocates and maps it. The mapping keeps the memory.
    pub(super) fn new(driver: &'d dyn Driver, size: ByteSize) -> Result<Self> {
        let anywhere = Location { kind: LocationType::HOST, id: 0 };
        let prop = AllocationProp { location: anywhere, ..AllocationProp::pinned_on(0, HandleType::NONE) };
        let handle = driver.mem_create(size, &prop, 0)?;
        let ptr = driver.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0)?;
        driver.mem_map(ptr, size, ByteSize::ZERO, handle, 0)?;
        driver.mem_release(handle)?;
        Ok(Self { driver, buffer: Buffer { ptr, size } })
    }

    /// Gives it back.
    pub(super) fn give_back(self) -> Result<()> {
        let Buffer { ptr, size } = self.buffer;
        self.driver.mem_unmap(ptr, size)?;
        self.driver.mem_address_free(ptr, size)
    }
}
