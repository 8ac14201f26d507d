//! A device buffer that grows without moving.
//!
//! It reserves addresses far ahead and maps memory behind them as it is needed, so that pointers into it stay good and
//! nothing is ever copied. Its only door to the hardware is [`Driver`]: a program gives it the real driver, the tests
//! give it a simulated one and need no GPU.

use peermap_driver::{
    AccessDesc, AllocationProp, ByteSize, CuResult, Device, DevicePtr, Driver, DriverError, GranularityOption,
    HandleType, MemHandle, Result,
};

/// Memory of one device at one address, which grows at its end.
pub struct GrowingBuffer<'d, D: Driver + ?Sized> {
    driver: &'d D,
    device: Device,
    granule: ByteSize,
    base: DevicePtr,
    reserved: ByteSize,
    size: ByteSize,
    pieces: Vec<MemHandle>,
}

impl<'d, D: Driver + ?Sized> GrowingBuffer<'d, D> {
    /// An empty buffer that may grow to `most` bytes. It takes addresses, and no memory yet.
    ///
    /// # Errors
    /// What the driver answers where it has no such range of addresses.
    pub fn reserve(driver: &'d D, device: Device, most: ByteSize) -> Result<Self> {
        let granule = driver.mem_get_allocation_granularity(&prop(device), GranularityOption::MINIMUM)?;
        let reserved = most.checked_next_multiple_of(granule).ok_or_else(full)?;
        let base = driver.mem_address_reserve(reserved, ByteSize::ZERO, DevicePtr::NULL, 0)?;
        Ok(Self { driver, device, granule, base, reserved, size: ByteSize::ZERO, pieces: Vec::new() })
    }

    /// Where the buffer begins, for its whole life.
    #[must_use]
    pub const fn address(&self) -> DevicePtr {
        self.base
    }

    /// How much of it is memory.
    #[must_use]
    pub const fn size(&self) -> ByteSize {
        self.size
    }

    /// Adds at least `more` bytes at the end. They read as zero; what is there already stays as and where it is.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY` past the end of the reservation, and what the driver answers. The buffer is then as it was.
    pub fn grow(&mut self, more: ByteSize) -> Result<()> {
        let more = more.checked_next_multiple_of(self.granule).ok_or_else(full)?;
        let size = self.size.checked_add(more).filter(|size| *size <= self.reserved).ok_or_else(full)?;
        let end = self.base.checked_add(self.size).ok_or_else(full)?;
        let handle = self.driver.mem_create(more, &prop(self.device), 0)?;
        if let Err(error) = self.attach(end, more, handle) {
            undo(self.driver.mem_release(handle));
            return Err(error);
        }
        self.pieces.push(handle);
        self.size = size;
        Ok(())
    }

    /// Maps an allocation and gives the device the right to it: both or neither.
    fn attach(&self, at: DevicePtr, size: ByteSize, handle: MemHandle) -> Result<()> {
        self.driver.mem_map(at, size, ByteSize::ZERO, handle, 0)?;
        let opened = self.driver.mem_set_access(at, size, &[AccessDesc::read_write(self.device.0)]);
        if opened.is_err() {
            undo(self.driver.mem_unmap(at, size));
        }
        opened
    }
}

impl<D: Driver + ?Sized> Drop for GrowingBuffer<'_, D> {
    /// Work that still uses the buffer must have ended: unmapping does not wait for it.
    fn drop(&mut self) {
        if !self.size.is_zero() {
            undo(self.driver.mem_unmap(self.base, self.size));
        }
        for handle in &self.pieces {
            undo(self.driver.mem_release(*handle));
        }
        undo(self.driver.mem_address_free(self.base, self.reserved));
    }
}

fn prop(device: Device) -> AllocationProp {
    AllocationProp::pinned_on(device.0, HandleType::NONE)
}

/// A step back. There is nothing left to do if the driver refuses that too, and the error that led here is the one to
/// report.
fn undo(step: Result<()>) {
    debug_assert!(step.is_ok(), "the driver refused to take back what it granted: {step:?}");
}

/// No more fits, in the word that `cuMemAlloc` would use.
const fn full() -> DriverError {
    DriverError::refused(CuResult::OUT_OF_MEMORY)
}
