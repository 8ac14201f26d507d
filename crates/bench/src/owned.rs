//! Memory that is given back when it goes out of scope, whatever happens to the group that has it.

use peermap_driver::{AccessDesc, AllocationProp, ByteSize, DevicePtr, Driver, MemHandle};

use crate::error::BenchError;

/// A physical allocation.
pub(crate) struct Physical<'d> {
    driver: &'d dyn Driver,
    pub(crate) handle: MemHandle,
    pub(crate) size: ByteSize,
}

impl<'d> Physical<'d> {
    pub(crate) fn create(driver: &'d dyn Driver, size: ByteSize, prop: &AllocationProp) -> Result<Self, BenchError> {
        Ok(Self { driver, handle: driver.mem_create(size, prop, 0)?, size })
    }

    /// An allocation by a handle that was obtained otherwise.
    pub(crate) fn of(driver: &'d dyn Driver, handle: MemHandle, size: ByteSize) -> Self {
        Self { driver, handle, size }
    }

    /// The handle was released by whoever measured it.
    pub(crate) fn was_released(self) {
        std::mem::forget(self);
    }
}

impl Drop for Physical<'_> {
    fn drop(&mut self) {
        // Whoever measures has learnt of a failing driver from the call that mattered.
        drop(self.driver.mem_release(self.handle));
    }
}

/// A reservation, and whatever is mapped in it.
pub(crate) struct Reserved<'d> {
    driver: &'d dyn Driver,
    pub(crate) ptr: DevicePtr,
    pub(crate) size: ByteSize,
}

impl<'d> Reserved<'d> {
    pub(crate) fn new(driver: &'d dyn Driver, size: ByteSize) -> Result<Self, BenchError> {
        Ok(Self { driver, ptr: driver.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0)?, size })
    }

    /// A reservation that was obtained otherwise.
    pub(crate) fn of(driver: &'d dyn Driver, ptr: DevicePtr, size: ByteSize) -> Self {
        Self { driver, ptr, size }
    }

    /// It was given back by whoever measured it.
    pub(crate) fn was_freed(self) {
        std::mem::forget(self);
    }

    /// An address inside.
    pub(crate) fn at(&self, offset: ByteSize) -> DevicePtr {
        self.ptr.checked_add(offset).unwrap_or(self.ptr)
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        drop(self.driver.mem_unmap(self.ptr, self.size));
        drop(self.driver.mem_address_free(self.ptr, self.size));
    }
}

/// An allocation, mapped as a whole, with rights for some devices.
pub(crate) struct Mapped<'d> {
    pub(crate) range: Reserved<'d>,
    _physical: Physical<'d>,
}

impl<'d> Mapped<'d> {
    pub(crate) fn new(
        driver: &'d dyn Driver,
        physical: Physical<'d>,
        rights: &[AccessDesc],
    ) -> Result<Self, BenchError> {
        let range = Reserved::new(driver, physical.size)?;
        driver.mem_map(range.ptr, physical.size, ByteSize::ZERO, physical.handle, 0)?;
        driver.mem_set_access(range.ptr, physical.size, rights)?;
        Ok(Self { range, _physical: physical })
    }
}

/// Memory from `cuMemAlloc`.
pub(crate) struct Allocated<'d> {
    driver: &'d dyn Driver,
    pub(crate) ptr: DevicePtr,
}

impl<'d> Allocated<'d> {
    pub(crate) fn new(driver: &'d dyn Driver, size: ByteSize) -> Result<Self, BenchError> {
        Ok(Self { driver, ptr: driver.mem_alloc(size)? })
    }
}

impl Drop for Allocated<'_> {
    fn drop(&mut self) {
        drop(self.driver.mem_free(self.ptr));
    }
}
