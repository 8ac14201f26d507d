//! Memory of `cuMemAlloc`, page-locked host memory, and what an address points to.

use std::ffi::c_void;

use peermap_driver::{ByteSize, DevicePtr, HostPtr, MemInfo, PointerAttribute, Result};

use crate::driver::CudaDriver;
use crate::layout::AnyValue;

/// Page-locked host memory as a pointer.
pub(crate) fn host_address(ptr: HostPtr) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(ptr.as_raw() as usize)
}

impl CudaDriver {
    pub(crate) fn mem_alloc(&self, size: ByteSize) -> Result<DevicePtr> {
        let mut ptr = 0;
        // SAFETY: `cuMemAlloc_v2` writes one `CUdeviceptr`.
        unsafe { self.library.mem_alloc(&raw mut ptr, size.get()) }?;
        Ok(DevicePtr::new(ptr))
    }

    pub(crate) fn mem_free(&self, ptr: DevicePtr) -> Result<()> {
        // SAFETY: `cuMemFree_v2` takes a number, and refuses what is not the start of such memory.
        unsafe { self.library.mem_free(ptr.get()) }
    }

    pub(crate) fn mem_get_info(&self) -> Result<MemInfo> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: `cuMemGetInfo_v2` writes two `size_t`.
        unsafe { self.library.mem_get_info(&raw mut free, &raw mut total) }?;
        Ok(MemInfo { free: ByteSize::new(free), total: ByteSize::new(total) })
    }

    pub(crate) fn mem_get_address_range(&self, ptr: DevicePtr) -> Result<(DevicePtr, ByteSize)> {
        let (mut base, mut size) = (0, 0);
        // SAFETY: `cuMemGetAddressRange_v2` writes one `CUdeviceptr` and one `size_t`; it only looks the address up.
        unsafe { self.library.mem_get_address_range(&raw mut base, &raw mut size, ptr.get()) }?;
        Ok((DevicePtr::new(base), ByteSize::new(size)))
    }

    pub(crate) fn pointer_get_attribute(&self, attribute: PointerAttribute, ptr: DevicePtr) -> Result<u64> {
        // Truth values, types and ordinals are 4 bytes or less; contexts, addresses, sizes, masks and identifiers are 8;
        // the peer-to-peer tokens are 16. Into zeroed bytes of a little-endian machine each lands as the number it is.
        const { assert!(cfg!(target_endian = "little")) };
        let mut data = AnyValue::filled(0);
        // SAFETY: `cuPointerGetAttribute` writes at most 16 bytes, by attribute, and only looks the address up.
        unsafe { self.library.pointer_get_attribute(&raw mut data, attribute.code(), ptr.get()) }?;
        Ok(data.first_u64())
    }

    pub(crate) fn mem_host_alloc(&self, size: ByteSize, flags: u32) -> Result<HostPtr> {
        let mut start = std::ptr::null_mut();
        // SAFETY: `cuMemHostAlloc` writes one pointer.
        unsafe { self.library.mem_host_alloc(&raw mut start, size.get(), flags) }?;
        // SAFETY: the driver gave this address out just now.
        Ok(unsafe { HostPtr::from_raw(start.expose_provenance() as u64) })
    }

    /// # Safety
    /// As [`Driver::mem_free_host`](peermap_driver::Driver::mem_free_host).
    pub(crate) unsafe fn mem_free_host(&self, ptr: HostPtr) -> Result<()> {
        // SAFETY: the caller vouches that nothing uses the memory; `cuMemFreeHost` refuses what is not such memory.
        unsafe { self.library.mem_free_host(host_address(ptr)) }
    }
}
