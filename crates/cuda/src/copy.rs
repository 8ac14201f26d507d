//! Fills and copies.

use peermap_driver::{ByteSize, DevicePtr, HostPtr, Result, Stream};

use crate::alloc::host_address;
use crate::driver::CudaDriver;

impl CudaDriver {
    pub(crate) fn memset_d8(&self, ptr: DevicePtr, value: u8, size: ByteSize) -> Result<()> {
        // SAFETY: `cuMemsetD8_v2` checks that the context's device may write the range.
        unsafe { self.library.memset_d8(ptr.get(), value, size.get()) }
    }

    pub(crate) fn memset_d8_async(&self, ptr: DevicePtr, value: u8, size: ByteSize, stream: Stream) -> Result<()> {
        // SAFETY: as `memset_d8`; a `Stream` holds what the driver gave out, and null is the default stream.
        unsafe { self.library.memset_d8_async(ptr.get(), value, size.get(), stream.as_raw()) }
    }

    pub(crate) fn memcpy_htod(&self, dst: DevicePtr, src: &[u8]) -> Result<()> {
        // SAFETY: `cuMemcpyHtoD_v2` reads `src.len()` bytes of host memory, and is done with them when it returns.
        unsafe { self.library.memcpy_htod(dst.get(), src.as_ptr().cast(), src.len() as u64) }
    }

    pub(crate) fn memcpy_dtoh(&self, dst: &mut [u8], src: DevicePtr) -> Result<()> {
        // SAFETY: `cuMemcpyDtoH_v2` writes `dst.len()` bytes of host memory, and has written them when it returns.
        unsafe { self.library.memcpy_dtoh(dst.as_mut_ptr().cast(), src.get(), dst.len() as u64) }
    }

    pub(crate) fn memcpy_dtod(&self, dst: DevicePtr, src: DevicePtr, size: ByteSize) -> Result<()> {
        // SAFETY: `cuMemcpyDtoD_v2` checks that the context's device may use both ranges.
        unsafe { self.library.memcpy_dtod(dst.get(), src.get(), size.get()) }
    }

    pub(crate) fn memcpy_dtod_async(
        &self,
        dst: DevicePtr,
        src: DevicePtr,
        size: ByteSize,
        stream: Stream,
    ) -> Result<()> {
        // SAFETY: as `memcpy_dtod`; a `Stream` holds what the driver gave out, and null is the default stream.
        unsafe { self.library.memcpy_dtod_async(dst.get(), src.get(), size.get(), stream.as_raw()) }
    }

    /// # Safety
    /// As [`Driver::memcpy_htod_async`](peermap_driver::Driver::memcpy_htod_async).
    pub(crate) unsafe fn memcpy_htod_async(
        &self,
        dst: DevicePtr,
        src: HostPtr,
        size: ByteSize,
        stream: Stream,
    ) -> Result<()> {
        // SAFETY: the caller vouches for `size` bytes of page-locked memory that stay as they are until the copy ends.
        unsafe { self.library.memcpy_htod_async(dst.get(), host_address(src), size.get(), stream.as_raw()) }
    }

    /// # Safety
    /// As [`Driver::memcpy_dtoh_async`](peermap_driver::Driver::memcpy_dtoh_async).
    pub(crate) unsafe fn memcpy_dtoh_async(
        &self,
        dst: HostPtr,
        src: DevicePtr,
        size: ByteSize,
        stream: Stream,
    ) -> Result<()> {
        // SAFETY: the caller vouches for `size` bytes of page-locked memory that nobody touches until the copy ends.
        unsafe { self.library.memcpy_dtoh_async(host_address(dst), src.get(), size.get(), stream.as_raw()) }
    }
}
