//! Virtual memory: allocations, reservations, mappings, rights, and questions about addresses.

use peermap_driver::{
    AccessDesc, AccessFlags, AllocationProp, ByteSize, Call, DevicePtr, GranularityOption, Location, MemHandle,
    PointerAttribute, Result,
};
use peermap_model::ThreadId;

use crate::handle;
use crate::process::Inner;

impl Inner {
    pub(crate) fn mem_get_allocation_granularity(
        &self,
        _: ThreadId,
        prop: &AllocationProp,
        option: GranularityOption,
    ) -> Result<ByteSize> {
        self.call(Call::cuMemGetAllocationGranularity, |process, _| {
            Ok(process.mem_get_allocation_granularity(prop, option))
        })
    }

    pub(crate) fn mem_create(
        &self,
        _: ThreadId,
        size: ByteSize,
        prop: &AllocationProp,
        flags: u64,
    ) -> Result<MemHandle> {
        self.call(Call::cuMemCreate, |process, outside| process.mem_create(outside, size, prop, flags))
            .map(handle::mem_handle)
    }

    pub(crate) fn mem_release(&self, _: ThreadId, handle: MemHandle) -> Result<()> {
        self.call(Call::cuMemRelease, |process, outside| process.mem_release(outside, handle))
    }

    pub(crate) fn mem_address_reserve(
        &self,
        _: ThreadId,
        size: ByteSize,
        alignment: ByteSize,
        addr: DevicePtr,
        flags: u64,
    ) -> Result<DevicePtr> {
        self.call(Call::cuMemAddressReserve, |process, _| process.mem_address_reserve(size, alignment, addr, flags))
    }

    pub(crate) fn mem_address_free(&self, _: ThreadId, ptr: DevicePtr, size: ByteSize) -> Result<()> {
        self.call(Call::cuMemAddressFree, |process, _| process.mem_address_free(ptr, size))
    }

    pub(crate) fn mem_map(
        &self,
        _: ThreadId,
        ptr: DevicePtr,
        size: ByteSize,
        offset: ByteSize,
        handle: MemHandle,
        flags: u64,
    ) -> Result<()> {
        self.with_whole_team(Call::cuMemMap, |process, outside| {
            process.mem_map(outside, ptr, size, offset, handle, flags)
        })
    }

    pub(crate) fn mem_unmap(&self, _: ThreadId, ptr: DevicePtr, size: ByteSize) -> Result<()> {
        self.call(Call::cuMemUnmap, |process, outside| process.mem_unmap(outside, ptr, size))
    }

    pub(crate) fn mem_set_access(
        &self,
        _: ThreadId,
        ptr: DevicePtr,
        size: ByteSize,
        desc: &[AccessDesc],
    ) -> Result<()> {
        self.call(Call::cuMemSetAccess, |process, outside| process.mem_set_access(outside, ptr, size, desc))
    }

    pub(crate) fn mem_get_access(&self, _: ThreadId, ptr: DevicePtr, location: Location) -> Result<AccessFlags> {
        self.call(Call::cuMemGetAccess, |process, _| process.mem_get_access(ptr, location))
    }

    pub(crate) fn mem_retain_allocation_handle(&self, _: ThreadId, addr: DevicePtr) -> Result<MemHandle> {
        self.call(Call::cuMemRetainAllocationHandle, |process, outside| {
            process.mem_retain_allocation_handle(outside, addr)
        })
        .map(handle::mem_handle)
    }

    pub(crate) fn mem_get_allocation_properties_from_handle(
        &self,
        _: ThreadId,
        handle: MemHandle,
    ) -> Result<AllocationProp> {
        self.call(Call::cuMemGetAllocationPropertiesFromHandle, |process, _| {
            process.mem_get_allocation_properties_from_handle(handle)
        })
    }

    pub(crate) fn mem_get_address_range(&self, thread: ThreadId, ptr: DevicePtr) -> Result<(DevicePtr, ByteSize)> {
        self.call(Call::cuMemGetAddressRange, |process, _| process.mem_get_address_range(thread, ptr))
    }

    pub(crate) fn pointer_get_attribute(
        &self,
        thread: ThreadId,
        attribute: PointerAttribute,
        ptr: DevicePtr,
    ) -> Result<u64> {
        self.call(Call::cuPointerGetAttribute, |process, _| process.pointer_get_attribute(thread, attribute, ptr))
    }
}
