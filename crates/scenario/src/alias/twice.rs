//! Memory that is mapped twice.

use peermap_driver::{AccessDesc, ByteSize, Device, DevicePtr, Driver, Result};

use crate::own_memory::prop;

/// One allocation at two addresses.
pub(super) struct Twice<'d> {
    driver: &'d dyn Driver,
    pub(super) size: ByteSize,
    pub(super) a: DevicePtr,
    pub(super) b: DevicePtr,
}

impl<'d> Twice<'d> {
    /// Allocates on the device and maps for it.
    pub(super) fn new(driver: &'d dyn Driver, device: Device, size: ByteSize) -> Result<Self> {
        let handle = driver.mem_create(size, &prop(device.0), 0)?;
        let map = || {
            let ptr = driver.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0)?;
            driver.mem_map(ptr, size, ByteSize::ZERO, handle, 0)?;
            driver.mem_set_access(ptr, size, &[AccessDesc::read_write(device.0)])?;
            Ok(ptr)
        };
        let (a, b) = (map()?, map()?);
        driver.mem_release(handle)?;
        Ok(Self { driver, size, a, b })
    }

    /// How many words of 64 bits it holds.
    pub(super) const fn words(&self) -> u64 {
        self.size.get() / 8
    }

    /// Gives both mappings back, and with the last one the memory.
    pub(super) fn give_back(self) -> Result<()> {
        for ptr in [self.a, self.b] {
            self.driver.mem_unmap(ptr, self.size)?;
            self.driver.mem_address_free(ptr, self.size)?;
        }
        Ok(())
    }
}
