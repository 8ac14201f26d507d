//! Page-locked host memory with an owner: the safe way to copy without waiting.

use std::mem::ManuallyDrop;

use crate::call::Driver;
use crate::error::Result;
use crate::handle::{HostPtr, Stream};
use crate::unit::{ByteSize, DevicePtr};

/// Page-locked host memory, freed when dropped.
pub struct PinnedBuffer<'d> {
    driver: &'d dyn Driver,
    ptr: HostPtr,
    len: usize,
}

impl<'d> PinnedBuffer<'d> {
    /// Allocates `len` bytes, all zero.
    ///
    /// # Errors
    /// Those of [`Driver::mem_host_alloc`].
    pub fn zeroed(driver: &'d dyn Driver, len: usize) -> Result<Self> {
        let ptr = driver.mem_host_alloc(ByteSize::from(len), 0)?;
        let mut buffer = Self { driver, ptr, len };
        // SAFETY: the driver allocated `len` writable bytes at this address, and nobody else knows them.
        unsafe { std::ptr::write_bytes(buffer.as_mut_ptr(), 0, len) };
        Ok(buffer)
    }

    fn as_mut_ptr(&mut self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.ptr.as_raw() as usize)
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        let start = std::ptr::with_exposed_provenance(self.ptr.as_raw() as usize);
        // SAFETY: the allocation holds `len` initialised bytes; while a copy runs the buffer is inside `InFlight`.
        unsafe { std::slice::from_raw_parts(start, self.len) }
    }

    /// The bytes, to be changed.
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let start = self.as_mut_ptr();
        // SAFETY: as `bytes`, and the exclusive borrow of the owner makes this the only reference.
        unsafe { std::slice::from_raw_parts_mut(start, self.len) }
    }

    /// Queues a copy of the buffer to a device address and gives the buffer away until it has ended.
    ///
    /// # Errors
    /// Those of [`Driver::memcpy_htod_async`]; the buffer is freed then.
    pub fn copy_to(self, dst: DevicePtr, stream: Stream) -> Result<InFlight<'d>> {
        // SAFETY: the buffer is page-locked, holds `len` bytes, and `InFlight` keeps it from everyone until the end.
        unsafe { self.driver.memcpy_htod_async(dst, self.ptr, ByteSize::from(self.len), stream) }?;
        Ok(InFlight { buffer: ManuallyDrop::new(self), stream })
    }

    /// Queues a copy from a device address into the buffer and gives the buffer away until it has ended.
    ///
    /// # Errors
    /// Those of [`Driver::memcpy_dtoh_async`]; the buffer is freed then.
    pub fn copy_from(self, src: DevicePtr, stream: Stream) -> Result<InFlight<'d>> {
        // SAFETY: the buffer is page-locked, holds `len` bytes, and `InFlight` keeps it from everyone until the end.
        unsafe { self.driver.memcpy_dtoh_async(self.ptr, src, ByteSize::from(self.len), stream) }?;
        Ok(InFlight { buffer: ManuallyDrop::new(self), stream })
    }
}

impl Drop for PinnedBuffer<'_> {
    fn drop(&mut self) {
        // SAFETY: the owner is going, so no reference is left, and a copy in flight would hold the buffer in `InFlight`.
        let freed = unsafe { self.driver.mem_free_host(self.ptr) };
        // A context that died of a device fault took the memory with it; there is nobody to tell.
        drop(freed);
    }
}

/// A buffer that a queued copy uses.
///
/// Dropped without [`wait`](Self::wait) it waits too, and leaks the buffer if the wait fails: the copy may still run.
#[must_use = "the buffer comes back from `wait`"]
pub struct InFlight<'d> {
    buffer: ManuallyDrop<PinnedBuffer<'d>>,
    stream: Stream,
}

impl<'d> InFlight<'d> {
    /// Waits for the copy's stream and gives the buffer back.
    ///
    /// # Errors
    /// Those of [`Driver::stream_synchronize`]; the buffer is leaked then, because the copy may still run.
    pub fn wait(self) -> Result<PinnedBuffer<'d>> {
        let mut this = ManuallyDrop::new(self);
        this.buffer.driver.stream_synchronize(this.stream)?;
        // SAFETY: `this` is never dropped or used again, so the buffer is taken exactly once.
        Ok(unsafe { ManuallyDrop::take(&mut this.buffer) })
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if self.buffer.driver.stream_synchronize(self.stream).is_ok() {
            // SAFETY: the value is going and `wait` was not called, so the buffer is dropped exactly once.
            unsafe { ManuallyDrop::drop(&mut self.buffer) };
        }
    }
}
