//! Virtual memory: physical allocations, reservations, mappings and access.

use peermap_driver::{
    AccessDesc, AccessFlags, AllocationProp, ByteSize, DevicePtr, GranularityOption, Location, MemHandle, Result,
};

use crate::cpu::change_mappings;
use crate::driver::CudaDriver;
use crate::layout::{CuMemAccessDesc, CuMemAllocationProp, CuMemLocation};

impl CudaDriver {
    pub(crate) fn mem_get_allocation_granularity(
        &self,
        prop: &AllocationProp,
        option: GranularityOption,
    ) -> Result<ByteSize> {
        let prop = CuMemAllocationProp::from(prop);
        let mut granularity = 0;
        // SAFETY: `cuMemGetAllocationGranularity` reads one `CUmemAllocationProp` and writes one `size_t`.
        unsafe { self.library.mem_get_allocation_granularity(&raw mut granularity, &raw const prop, option.0) }?;
        Ok(ByteSize::new(granularity))
    }

    pub(crate) fn mem_create(&self, size: ByteSize, prop: &AllocationProp, flags: u64) -> Result<MemHandle> {
        let prop = CuMemAllocationProp::from(prop);
        let mut raw = 0;
        // SAFETY: `cuMemCreate` reads one `CUmemAllocationProp` and writes one handle, which is 64 bits.
        unsafe { self.library.mem_create(&raw mut raw, size.get(), &raw const prop, flags) }?;
        // SAFETY: the driver gave this handle out just now.
        Ok(unsafe { MemHandle::from_raw(raw) })
    }

    pub(crate) fn mem_release(&self, handle: MemHandle) -> Result<()> {
        // SAFETY: a `MemHandle` holds what the driver gave out; who made one from another number answered for it there.
        unsafe { self.library.mem_release(handle.as_raw()) }
    }

    pub(crate) fn mem_address_reserve(
        &self,
        size: ByteSize,
        alignment: ByteSize,
        addr: DevicePtr,
        flags: u64,
    ) -> Result<DevicePtr> {
        let mut ptr = 0;
        // SAFETY: `cuMemAddressReserve` writes one `CUdeviceptr`; the wanted address is only a hint.
        unsafe { self.library.mem_address_reserve(&raw mut ptr, size.get(), alignment.get(), addr.get(), flags) }?;
        Ok(DevicePtr::new(ptr))
    }

    pub(crate) fn mem_address_free(&self, ptr: DevicePtr, size: ByteSize) -> Result<()> {
        // SAFETY: `cuMemAddressFree` takes numbers, and refuses what is no reservation.
        unsafe { self.library.mem_address_free(ptr.get(), size.get()) }
    }

    pub(crate) fn mem_map(
        &self,
        ptr: DevicePtr,
        size: ByteSize,
        offset: ByteSize,
        handle: MemHandle,
        flags: u64,
    ) -> Result<()> {
        // SAFETY: `cuMemMap` refuses what is no reservation; the handle is as in `mem_release`.
        unsafe { self.library.mem_map(ptr.get(), size.get(), offset.get(), handle.as_raw(), flags) }
    }

    pub(crate) fn mem_unmap(&self, ptr: DevicePtr, size: ByteSize) -> Result<()> {
        let _alone = change_mappings();
        // SAFETY: `cuMemUnmap` takes numbers, and refuses what is no reservation.
        unsafe { self.library.mem_unmap(ptr.get(), size.get()) }
    }

    pub(crate) fn mem_set_access(&self, ptr: DevicePtr, size: ByteSize, desc: &[AccessDesc]) -> Result<()> {
        let desc = desc.iter().copied().map(CuMemAccessDesc::try_from).collect::<Result<Vec<_>>>()?;
        let _alone = change_mappings();
        // SAFETY: `cuMemSetAccess` reads `count` structures from the array.
        unsafe { self.library.mem_set_access(ptr.get(), size.get(), desc.as_ptr(), desc.len() as u64) }
    }

    pub(crate) fn mem_get_access(&self, ptr: DevicePtr, location: Location) -> Result<AccessFlags> {
        let location = CuMemLocation::from(location);
        let mut flags = 0;
        // SAFETY: `cuMemGetAccess` reads one `CUmemLocation` and writes one `unsigned long long`.
        unsafe { self.library.mem_get_access(&raw mut flags, &raw const location, ptr.get()) }?;
        Ok(AccessFlags(flags))
    }

    pub(crate) fn mem_retain_allocation_handle(&self, addr: DevicePtr) -> Result<MemHandle> {
        let mut raw = 0;
        // SAFETY: `cuMemRetainAllocationHandle` writes one handle; it looks the address up and follows it nowhere.
        unsafe { self.library.mem_retain_allocation_handle(&raw mut raw, addr.get()) }?;
        // SAFETY: the driver gave this handle out just now.
        Ok(unsafe { MemHandle::from_raw(raw) })
    }

    pub(crate) fn mem_get_allocation_properties_from_handle(&self, handle: MemHandle) -> Result<AllocationProp> {
        let mut prop = CuMemAllocationProp::default();
        // SAFETY: the call writes one `CUmemAllocationProp`; the handle is as in `mem_release`.
        unsafe { self.library.mem_get_allocation_properties_from_handle(&raw mut prop, handle.as_raw()) }?;
        Ok(prop.into())
    }
}
