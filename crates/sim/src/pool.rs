//! Memory pools: allocation in the order of streams, and pools that processes share.

use peermap_driver::{
    AccessDesc, AccessFlags, ByteSize, Call, Device, DevicePtr, HandleType, Location, MemPool, MemPoolAttribute,
    MemPoolProps, MemPoolPtrExportData, OsHandle, Result, ShareableHandle, Stream,
};
use peermap_model::{Outside, ThreadId};

use crate::handle;
use crate::process::{Inner, State};
use crate::share::{attach, fabric_bytes, shareable_handle};
use crate::tables::Tables;

impl Inner {
    pub(crate) fn mem_alloc_async(&self, thread: ThreadId, size: ByteSize, stream: Stream) -> Result<DevicePtr> {
        self.call(Call::cuMemAllocAsync, |process, outside| process.mem_alloc_async(outside, thread, size, stream))
    }

    pub(crate) fn mem_alloc_from_pool_async(
        &self,
        thread: ThreadId,
        size: ByteSize,
        pool: MemPool,
        stream: Stream,
    ) -> Result<DevicePtr> {
        self.call(Call::cuMemAllocFromPoolAsync, |process, outside| {
            process.mem_alloc_from_pool_async(outside, thread, size, pool, stream)
        })
    }

    pub(crate) fn mem_free_async(&self, thread: ThreadId, ptr: DevicePtr, stream: Stream) -> Result<()> {
        self.call(Call::cuMemFreeAsync, |process, outside| process.mem_free_async(outside, thread, ptr, stream))
    }

    pub(crate) fn device_get_default_mem_pool(&self, _: ThreadId, device: Device) -> Result<MemPool> {
        self.call(Call::cuDeviceGetDefaultMemPool, |process, _| process.device_get_default_mem_pool(device))
            .map(handle::mem_pool)
    }

    pub(crate) fn device_get_mem_pool(&self, _: ThreadId, device: Device) -> Result<MemPool> {
        self.call(Call::cuDeviceGetMemPool, |process, _| process.device_get_mem_pool(device)).map(handle::mem_pool)
    }

    pub(crate) fn device_set_mem_pool(&self, _: ThreadId, device: Device, pool: MemPool) -> Result<()> {
        self.call(Call::cuDeviceSetMemPool, |process, _| process.device_set_mem_pool(device, pool))
    }

    pub(crate) fn mem_pool_create(&self, _: ThreadId, props: &MemPoolProps) -> Result<MemPool> {
        self.call(Call::cuMemPoolCreate, |process, _| process.mem_pool_create(props)).map(handle::mem_pool)
    }

    pub(crate) fn mem_pool_destroy(&self, _: ThreadId, pool: MemPool) -> Result<()> {
        self.call(Call::cuMemPoolDestroy, |process, outside| process.mem_pool_destroy(outside, pool))
    }

    pub(crate) fn mem_pool_get_attribute(
        &self,
        _: ThreadId,
        pool: MemPool,
        attribute: MemPoolAttribute,
    ) -> Result<u64> {
        self.call(Call::cuMemPoolGetAttribute, |process, _| process.mem_pool_get_attribute(pool, attribute))
    }

    pub(crate) fn mem_pool_set_attribute(
        &self,
        _: ThreadId,
        pool: MemPool,
        attribute: MemPoolAttribute,
        value: u64,
    ) -> Result<()> {
        self.call(Call::cuMemPoolSetAttribute, |process, _| process.mem_pool_set_attribute(pool, attribute, value))
    }

    pub(crate) fn mem_pool_trim_to(&self, _: ThreadId, pool: MemPool, min_bytes_to_keep: ByteSize) -> Result<()> {
        self.call(Call::cuMemPoolTrimTo, |process, outside| process.mem_pool_trim_to(outside, pool, min_bytes_to_keep))
    }

    pub(crate) fn mem_pool_set_access(&self, _: ThreadId, pool: MemPool, desc: &[AccessDesc]) -> Result<()> {
        self.call(Call::cuMemPoolSetAccess, |process, outside| process.mem_pool_set_access(outside, pool, desc))
    }

    pub(crate) fn mem_pool_get_access(&self, _: ThreadId, pool: MemPool, location: Location) -> Result<AccessFlags> {
        self.call(Call::cuMemPoolGetAccess, |process, _| process.mem_pool_get_access(pool, location))
    }

    pub(crate) fn mem_pool_export_to_shareable_handle(
        &self,
        _: ThreadId,
        pool: MemPool,
        handle_type: HandleType,
        flags: u64,
    ) -> Result<ShareableHandle> {
        let mut state = self.enter(Call::cuMemPoolExportToShareableHandle)?;
        let State { process, link, .. } = &mut *state;
        let mut tables = Tables(&self.memory.tables);
        let mut outside = Outside { machine: &mut **link, tables: &mut tables };
        let answer = process.mem_pool_export_to_shareable_handle(&mut outside, pool, handle_type, flags)?;
        shareable_handle(link.as_mut(), answer)
    }

    pub(crate) fn mem_pool_import_from_shareable_handle(
        &self,
        _: ThreadId,
        from: OsHandle<'_>,
        handle_type: HandleType,
        flags: u64,
    ) -> Result<MemPool> {
        let mut state = self.enter(Call::cuMemPoolImportFromShareableHandle)?;
        let State { process, link, .. } = &mut *state;
        attach(link.as_mut(), from, handle_type)?;
        let mut tables = Tables(&self.memory.tables);
        let mut outside = Outside { machine: &mut **link, tables: &mut tables };
        let fabric = fabric_bytes(&from);
        let imported =
            process.mem_pool_import_from_shareable_handle(&mut outside, from.fd_number(), fabric, handle_type, flags);
        link.detach();
        imported.map(handle::mem_pool)
    }

    pub(crate) fn mem_pool_export_pointer(&self, _: ThreadId, ptr: DevicePtr) -> Result<MemPoolPtrExportData> {
        self.call(Call::cuMemPoolExportPointer, |process, outside| process.mem_pool_export_pointer(outside, ptr))
    }

    pub(crate) fn mem_pool_import_pointer(
        &self,
        _: ThreadId,
        pool: MemPool,
        share_data: &MemPoolPtrExportData,
    ) -> Result<DevicePtr> {
        self.call(Call::cuMemPoolImportPointer, |process, outside| {
            process.mem_pool_import_pointer(outside, pool, share_data)
        })
    }
}
