//! Buffers, each a mapping of its own.

use peermap_driver::{
    AccessDesc, AllocationProp, ByteSize, Device, DevicePtr, Driver, GranularityOption, HandleType, MemHandle, Result,
};

use super::argument::Start;

/// How much is copied to the host at a time.
const PIECE: usize = 4 << 20;

/// A buffer with nothing mapped behind its last granule. It is given back when it is dropped.
pub(super) struct Mapped<'d> {
    driver: &'d dyn Driver,
    pub(super) ptr: DevicePtr,
    bytes: ByteSize,
    /// The allocation, and how much of the reservation it takes up so far.
    mapped: Option<(MemHandle, ByteSize)>,
    reserved: ByteSize,
}

impl<'d> Mapped<'d> {
    /// Makes a buffer that the device may read and write, and puts in what it starts with.
    pub(super) fn new(driver: &'d dyn Driver, device: Device, start: &Start) -> Result<Self> {
        let prop = AllocationProp::pinned_on(device.0, HandleType::NONE);
        let granularity = driver.mem_get_allocation_granularity(&prop, GranularityOption::MINIMUM)?;
        let bytes = start.size();
        // What no device has is for the driver to refuse.
        let size = bytes.get().checked_next_multiple_of(granularity.get()).unwrap_or(bytes.get());
        let size = ByteSize::new(size);
        // A granule more than is mapped, so that no other buffer lies there.
        let reserved = ByteSize::new(size.get().saturating_add(granularity.get()));
        let ptr = driver.mem_address_reserve(reserved, ByteSize::ZERO, DevicePtr::NULL, 0)?;
        let mut buffer = Self { driver, ptr, bytes, mapped: None, reserved };
        buffer.map(size, &prop, device)?;
        match start {
            Start::Filled { size, byte } => driver.memset_d8(ptr, *byte, *size)?,
            Start::Bytes(bytes) => driver.memcpy_htod(ptr, bytes)?,
        }
        Ok(buffer)
    }

    fn map(&mut self, size: ByteSize, prop: &AllocationProp, device: Device) -> Result<()> {
        let handle = self.driver.mem_create(size, prop, 0)?;
        let mapped = self.driver.mem_map(self.ptr, size, ByteSize::ZERO, handle, 0);
        self.mapped = Some((handle, if mapped.is_ok() { size } else { ByteSize::ZERO }));
        mapped?;
        self.driver.mem_set_access(self.ptr, size, &[AccessDesc::read_write(device.0)])
    }

    /// What it holds, a piece at a time.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Result<Vec<u8>>> {
        let bytes = self.bytes.get();
        (0..bytes).step_by(PIECE).map(move |from| {
            let mut piece = vec![0; usize::try_from(bytes - from).unwrap_or(PIECE).min(PIECE)];
            let start = self.ptr.checked_add(ByteSize::new(from)).unwrap_or(self.ptr);
            self.driver.memcpy_dtoh(&mut piece, start)?;
            Ok(piece)
        })
    }
}

impl Drop for Mapped<'_> {
    fn drop(&mut self) {
        // Whoever launched has learnt of a failing driver from the call that mattered.
        if let Some((handle, size)) = self.mapped {
            if !size.is_zero() {
                drop(self.driver.mem_unmap(self.ptr, size));
            }
            drop(self.driver.mem_release(handle));
        }
        drop(self.driver.mem_address_free(self.ptr, self.reserved));
    }
}
