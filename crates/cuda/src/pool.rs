//! Memory pools: allocation in the order of streams, and pools that processes share.

use peermap_driver::{
    AccessDesc, AccessFlags, ByteSize, Device, DevicePtr, HandleType, Location, MemPool, MemPoolAttribute,
    MemPoolProps, MemPoolPtrExportData, OsHandle, Result, ShareableHandle, Stream,
};

use crate::driver::CudaDriver;
use crate::layout::{AnyValue, CuMemAccessDesc, CuMemLocation, CuMemPoolProps};
use crate::share::{os_handle, shareable_handle};

/// A pool that the driver gave out just now.
fn pool(raw: u64) -> MemPool {
    // SAFETY: see above.
    unsafe { MemPool::from_raw(raw) }
}

impl CudaDriver {
    pub(crate) fn mem_alloc_async(&self, size: ByteSize, stream: Stream) -> Result<DevicePtr> {
        let mut ptr = 0;
        // SAFETY: `cuMemAllocAsync` writes one `CUdeviceptr`; a `Stream` holds what the driver gave out, and who made one from
        // another number answered for it there.
        unsafe { self.library.mem_alloc_async(&raw mut ptr, size.get(), stream.as_raw()) }?;
        Ok(DevicePtr::new(ptr))
    }

    pub(crate) fn mem_alloc_from_pool_async(&self, size: ByteSize, pool: MemPool, stream: Stream) -> Result<DevicePtr> {
        let mut ptr = 0;
        // SAFETY: `cuMemAllocFromPoolAsync` writes one `CUdeviceptr`; the handles are as in `mem_alloc_async`.
        unsafe { self.library.mem_alloc_from_pool_async(&raw mut ptr, size.get(), pool.as_raw(), stream.as_raw()) }?;
        Ok(DevicePtr::new(ptr))
    }

    pub(crate) fn mem_free_async(&self, ptr: DevicePtr, stream: Stream) -> Result<()> {
        // SAFETY: `cuMemFreeAsync` refuses what is not the start of such memory; the stream is as in `mem_alloc_async`.
        unsafe { self.library.mem_free_async(ptr.get(), stream.as_raw()) }
    }

    pub(crate) fn device_get_default_mem_pool(&self, device: Device) -> Result<MemPool> {
        let mut raw = 0;
        // SAFETY: `cuDeviceGetDefaultMemPool` writes one pool.
        unsafe { self.library.device_get_default_mem_pool(&raw mut raw, device.0) }?;
        Ok(pool(raw))
    }

    pub(crate) fn device_get_mem_pool(&self, device: Device) -> Result<MemPool> {
        let mut raw = 0;
        // SAFETY: `cuDeviceGetMemPool` writes one pool.
        unsafe { self.library.device_get_mem_pool(&raw mut raw, device.0) }?;
        Ok(pool(raw))
    }

    pub(crate) fn device_set_mem_pool(&self, device: Device, pool: MemPool) -> Result<()> {
        // SAFETY: the pool is as the stream in `mem_alloc_async`.
        unsafe { self.library.device_set_mem_pool(device.0, pool.as_raw()) }
    }

    pub(crate) fn mem_pool_create(&self, props: &MemPoolProps) -> Result<MemPool> {
        let props = CuMemPoolProps::from(props);
        let mut raw = 0;
        // SAFETY: `cuMemPoolCreate` reads one `CUmemPoolProps` and writes one pool.
        unsafe { self.library.mem_pool_create(&raw mut raw, &raw const props) }?;
        Ok(pool(raw))
    }

    pub(crate) fn mem_pool_destroy(&self, pool: MemPool) -> Result<()> {
        // SAFETY: the pool is as the stream in `mem_alloc_async`.
        unsafe { self.library.mem_pool_destroy(pool.as_raw()) }
    }

    pub(crate) fn mem_pool_get_attribute(&self, pool: MemPool, attribute: MemPoolAttribute) -> Result<u64> {
        // Truth values are an `int`, sizes 8 bytes: into zeroed bytes each lands as the number it is.
        let mut value = AnyValue::filled(0);
        // SAFETY: `cuMemPoolGetAttribute` writes at most 8 bytes; the pool is as the stream in `mem_alloc_async`.
        unsafe { self.library.mem_pool_get_attribute(pool.as_raw(), attribute.code(), &raw mut value) }?;
        Ok(value.first_u64())
    }

    pub(crate) fn mem_pool_set_attribute(&self, pool: MemPool, attribute: MemPoolAttribute, value: u64) -> Result<()> {
        let mut given = AnyValue::filled(0);
        given.0[..8].copy_from_slice(&value.to_ne_bytes());
        // SAFETY: `cuMemPoolSetAttribute` reads at most 8 bytes; the pool is as the stream in `mem_alloc_async`.
        unsafe { self.library.mem_pool_set_attribute(pool.as_raw(), attribute.code(), &raw mut given) }
    }

    pub(crate) fn mem_pool_trim_to(&self, pool: MemPool, min_bytes_to_keep: ByteSize) -> Result<()> {
        // SAFETY: the pool is as the stream in `mem_alloc_async`.
        unsafe { self.library.mem_pool_trim_to(pool.as_raw(), min_bytes_to_keep.get()) }
    }

    pub(crate) fn mem_pool_set_access(&self, pool: MemPool, desc: &[AccessDesc]) -> Result<()> {
        let desc = desc.iter().copied().map(CuMemAccessDesc::try_from).collect::<Result<Vec<_>>>()?;
        // SAFETY: `cuMemPoolSetAccess` reads `count` structures; the pool is as the stream in `mem_alloc_async`.
        unsafe { self.library.mem_pool_set_access(pool.as_raw(), desc.as_ptr(), desc.len() as u64) }
    }

    pub(crate) fn mem_pool_get_access(&self, pool: MemPool, location: Location) -> Result<AccessFlags> {
        let mut location = CuMemLocation::from(location);
        let mut flags = 0;
        // SAFETY: `cuMemPoolGetAccess` reads one `CUmemLocation` and writes one enum; the pool is as the stream in
        // `mem_alloc_async`.
        unsafe { self.library.mem_pool_get_access(&raw mut flags, pool.as_raw(), &raw mut location) }?;
        Ok(AccessFlags(flags.into()))
    }

    pub(crate) fn mem_pool_export_to_shareable_handle(
        &self,
        pool: MemPool,
        handle_type: HandleType,
        flags: u64,
    ) -> Result<ShareableHandle> {
        let mut shareable = AnyValue::filled(0xFF);
        // SAFETY: the call writes an `int` or 64 bytes, by type; the pool is as the stream in `mem_alloc_async`.
        unsafe {
            self.library.mem_pool_export_to_shareable_handle(&raw mut shareable, pool.as_raw(), handle_type.0, flags)
        }?;
        // SAFETY: the driver wrote it just now, for the caller of the export.
        unsafe { shareable_handle(&shareable, handle_type) }
    }

    pub(crate) fn mem_pool_import_from_shareable_handle(
        &self,
        from: OsHandle<'_>,
        handle_type: HandleType,
        flags: u64,
    ) -> Result<MemPool> {
        let os_handle = os_handle(from, handle_type)?;
        let mut raw = 0;
        // SAFETY: the call writes one pool. By type it takes the number for a descriptor, which it checks, or follows the
        // pointer to 64 bytes; `os_handle` gives a pointer wherever it would follow one.
        unsafe { self.library.mem_pool_import_from_shareable_handle(&raw mut raw, os_handle, handle_type.0, flags) }?;
        Ok(pool(raw))
    }

    pub(crate) fn mem_pool_export_pointer(&self, ptr: DevicePtr) -> Result<MemPoolPtrExportData> {
        let mut share_data = [0; 64];
        // SAFETY: `cuMemPoolExportPointer` writes one `CUmemPoolPtrExportData`, which is 64 bytes, and checks the address.
        unsafe { self.library.mem_pool_export_pointer(&raw mut share_data, ptr.get()) }?;
        Ok(MemPoolPtrExportData(share_data))
    }

    pub(crate) fn mem_pool_import_pointer(
        &self,
        pool: MemPool,
        share_data: &MemPoolPtrExportData,
    ) -> Result<DevicePtr> {
        let mut share_data = share_data.0;
        let mut ptr = 0;
        // SAFETY: `cuMemPoolImportPointer` reads 64 bytes and writes one `CUdeviceptr`; the pool is as the stream in
        // `mem_alloc_async`.
        unsafe { self.library.mem_pool_import_pointer(&raw mut ptr, pool.as_raw(), &raw mut share_data) }?;
        Ok(DevicePtr::new(ptr))
    }
}
