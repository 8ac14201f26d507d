//! The driver library: which functions it has, and how each is called.
//!
//! cudarc is asked for the loaded library and nothing else. Its own wrappers panic where a function is missing, and its
//! result type is a closed enum, which a code that it does not know would turn into undefined behaviour.

use std::ffi::{c_char, c_void};

use cudarc::driver::sys;
use peermap_driver::{CuResult, DriverError, Result};

use crate::layout::{
    AnyValue, CuIpcHandle, CuMemAccessDesc, CuMemAllocationProp, CuMemLocation, CuMemPoolProps, CuMulticastObjectProp,
};

/// What the driver answered, as a result.
pub(crate) const fn check(code: u32) -> Result<()> {
    match CuResult::new(code) {
        CuResult::SUCCESS => Ok(()),
        refused => Err(DriverError::refused(refused)),
    }
}

/// Whether a driver library can be loaded.
pub(crate) fn is_present() -> bool {
    // SAFETY: loading runs the initialisers of the NVIDIA driver library, which a process may run at any time.
    unsafe { sys::is_culib_present() }
}

/// The first of the symbols that the library exports.
///
/// # Safety
/// A driver library can be loaded ([`is_present`]), and `F` is the C signature of every named function.
unsafe fn find<F: Copy>(names: &[&str]) -> Option<F> {
    // SAFETY: loading runs the initialisers of the NVIDIA driver library, which a process may run at any time.
    let library = unsafe { sys::culib() };
    names.iter().find_map(|name| {
        // SAFETY: the caller vouches for the signature; the library is never unloaded, so the pointer stays good.
        let symbol = unsafe { library.get::<F>(*name) };
        symbol.ok().map(|function| *function)
    })
}

macro_rules! functions {
    (@is_needed needed) => { true };
    (@is_needed optional) => { false };
    ($(
        $need:ident $name:ident = $($symbol:ident)|+ ( $($arg:ident : $kind:ty),* $(,)? );
    )*) => {
        /// The functions of the driver library. `None`: it does not export that one.
        #[derive(Debug)]
        pub(crate) struct Library {
            $(pub(crate) $name: Option<unsafe extern "C" fn($($kind),*) -> u32>,)*
        }

        #[expect(clippy::too_many_arguments, reason = "the signatures are CUDA's")]
        impl Library {
            /// Looks every function up.
            ///
            /// # Safety
            /// A driver library can be loaded ([`is_present`]).
            pub(crate) unsafe fn load() -> Self {
                Self {
                    $(
                        // SAFETY: the table gives the signature that `cuda.h` declares for this function.
                        $name: unsafe { find(&[$(concat!(stringify!($symbol), "\0")),+]) },
                    )*
                }
            }

            /// A library that exports nothing, for tests that put functions of their own into it.
            #[cfg(test)]
            pub(crate) const fn without_functions() -> Self {
                Self { $($name: None,)* }
            }

            /// A needed function that the library lacks, if there is one.
            pub(crate) fn first_missing(&self) -> Option<&'static str> {
                let functions = [$(
                    (functions!(@is_needed $need), self.$name.is_some(), [$(stringify!($symbol)),+][0]),
                )*];
                functions.into_iter().find(|(needed, found, _)| *needed && !found).map(|(_, _, symbol)| symbol)
            }

            $(
                /// Calls the function of this name.
                ///
                /// # Safety
                /// As the CUDA manual says for this function.
                ///
                /// # Errors
                /// What the driver answers; `NOT_SUPPORTED` if the library does not have the function.
                #[inline]
                pub(crate) unsafe fn $name(&self, $($arg: $kind),*) -> Result<()> {
                    let Some(function) = self.$name else {
                        return Err(DriverError::refused(CuResult::NOT_SUPPORTED));
                    };
                    // SAFETY: the caller fulfils what the manual asks of this function's callers.
                    check(unsafe { function($($arg),*) })
                }
            )*
        }
    };
}

// Handles, device addresses and `size_t` are `u64`, enums are `u32`, `CUdevice` is `i32`. Where a library exports several
// versions of a function, the table names the oldest with these signatures: it has the same meaning in every driver.
functions! {
    needed init = cuInit(flags: u32);
    needed driver_get_version = cuDriverGetVersion(version: *mut i32);
    optional get_error_name = cuGetErrorName(error: u32, text: *mut *const c_char);
    optional get_error_string = cuGetErrorString(error: u32, text: *mut *const c_char);

    needed device_get_count = cuDeviceGetCount(count: *mut i32);
    needed device_get = cuDeviceGet(device: *mut i32, ordinal: i32);
    optional device_get_name = cuDeviceGetName(name: *mut c_char, len: i32, device: i32);
    optional device_get_uuid = cuDeviceGetUuid_v2 | cuDeviceGetUuid(uuid: *mut [u8; 16], device: i32);
    optional device_get_pci_bus_id = cuDeviceGetPCIBusId(id: *mut c_char, len: i32, device: i32);
    needed device_get_attribute = cuDeviceGetAttribute(value: *mut i32, attribute: u32, device: i32);
    optional device_total_mem = cuDeviceTotalMem_v2(bytes: *mut u64, device: i32);
    optional device_can_access_peer = cuDeviceCanAccessPeer(can: *mut i32, device: i32, peer: i32);
    optional device_primary_ctx_retain = cuDevicePrimaryCtxRetain(context: *mut u64, device: i32);
    optional device_primary_ctx_release = cuDevicePrimaryCtxRelease_v2(device: i32);

    needed ctx_create = cuCtxCreate_v2(context: *mut u64, flags: u32, device: i32);
    needed ctx_destroy = cuCtxDestroy_v2(context: u64);
    needed ctx_set_current = cuCtxSetCurrent(context: u64);
    optional ctx_get_current = cuCtxGetCurrent(context: *mut u64);
    optional ctx_push_current = cuCtxPushCurrent_v2(context: u64);
    optional ctx_pop_current = cuCtxPopCurrent_v2(context: *mut u64);
    optional ctx_get_device = cuCtxGetDevice(device: *mut i32);
    needed ctx_synchronize = cuCtxSynchronize();
    optional ctx_enable_peer_access = cuCtxEnablePeerAccess(peer: u64, flags: u32);
    optional ctx_disable_peer_access = cuCtxDisablePeerAccess(peer: u64);

    optional stream_create = cuStreamCreate(stream: *mut u64, flags: u32);
    optional stream_destroy = cuStreamDestroy_v2(stream: u64);
    optional stream_synchronize = cuStreamSynchronize(stream: u64);
    optional stream_query = cuStreamQuery(stream: u64);
    optional stream_wait_event = cuStreamWaitEvent(stream: u64, event: u64, flags: u32);

    optional event_create = cuEventCreate(event: *mut u64, flags: u32);
    optional event_destroy = cuEventDestroy_v2(event: u64);
    optional event_record = cuEventRecord(event: u64, stream: u64);
    optional event_query = cuEventQuery(event: u64);
    optional event_synchronize = cuEventSynchronize(event: u64);
    optional event_elapsed_time = cuEventElapsedTime(milliseconds: *mut f32, start: u64, end: u64);

    needed mem_get_allocation_granularity = cuMemGetAllocationGranularity(
        granularity: *mut u64, prop: *const CuMemAllocationProp, option: u32
    );
    needed mem_create = cuMemCreate(handle: *mut u64, size: u64, prop: *const CuMemAllocationProp, flags: u64);
    needed mem_release = cuMemRelease(handle: u64);
    needed mem_address_reserve = cuMemAddressReserve(ptr: *mut u64, size: u64, alignment: u64, addr: u64, flags: u64);
    needed mem_address_free = cuMemAddressFree(ptr: u64, size: u64);
    needed mem_map = cuMemMap(ptr: u64, size: u64, offset: u64, handle: u64, flags: u64);
    needed mem_unmap = cuMemUnmap(ptr: u64, size: u64);
    needed mem_set_access = cuMemSetAccess(ptr: u64, size: u64, desc: *const CuMemAccessDesc, count: u64);
    optional mem_get_access = cuMemGetAccess(flags: *mut u64, location: *const CuMemLocation, ptr: u64);
    needed mem_export_to_shareable_handle = cuMemExportToShareableHandle(
        shareable: *mut AnyValue, handle: u64, handle_type: u32, flags: u64
    );
    needed mem_import_from_shareable_handle = cuMemImportFromShareableHandle(
        handle: *mut u64, os_handle: *const c_void, handle_type: u32
    );
    optional mem_retain_allocation_handle = cuMemRetainAllocationHandle(handle: *mut u64, addr: u64);
    optional mem_get_allocation_properties_from_handle = cuMemGetAllocationPropertiesFromHandle(
        prop: *mut CuMemAllocationProp, handle: u64
    );

    optional mem_alloc = cuMemAlloc_v2(ptr: *mut u64, size: u64);
    optional mem_free = cuMemFree_v2(ptr: u64);
    optional mem_get_info = cuMemGetInfo_v2(free: *mut u64, total: *mut u64);
    optional mem_get_address_range = cuMemGetAddressRange_v2(base: *mut u64, size: *mut u64, ptr: u64);
    optional pointer_get_attribute = cuPointerGetAttribute(data: *mut AnyValue, attribute: u32, ptr: u64);
    optional mem_host_alloc = cuMemHostAlloc(ptr: *mut *mut c_void, size: u64, flags: u32);
    optional mem_free_host = cuMemFreeHost(ptr: *mut c_void);
    optional ipc_get_mem_handle = cuIpcGetMemHandle(handle: *mut [u8; 64], ptr: u64);
    optional ipc_open_mem_handle = cuIpcOpenMemHandle_v2(ptr: *mut u64, handle: CuIpcHandle, flags: u32);
    optional ipc_close_mem_handle = cuIpcCloseMemHandle(ptr: u64);
    optional ipc_get_event_handle = cuIpcGetEventHandle(handle: *mut [u8; 64], event: u64);
    optional ipc_open_event_handle = cuIpcOpenEventHandle(event: *mut u64, handle: CuIpcHandle);

    optional mem_alloc_async = cuMemAllocAsync(ptr: *mut u64, size: u64, stream: u64);
    optional mem_alloc_from_pool_async = cuMemAllocFromPoolAsync(ptr: *mut u64, size: u64, pool: u64, stream: u64);
    optional mem_free_async = cuMemFreeAsync(ptr: u64, stream: u64);
    optional device_get_default_mem_pool = cuDeviceGetDefaultMemPool(pool: *mut u64, device: i32);
    optional device_get_mem_pool = cuDeviceGetMemPool(pool: *mut u64, device: i32);
    optional device_set_mem_pool = cuDeviceSetMemPool(device: i32, pool: u64);
    optional mem_pool_create = cuMemPoolCreate(pool: *mut u64, props: *const CuMemPoolProps);
    optional mem_pool_destroy = cuMemPoolDestroy(pool: u64);
    optional mem_pool_get_attribute = cuMemPoolGetAttribute(pool: u64, attribute: u32, value: *mut AnyValue);
    optional mem_pool_set_attribute = cuMemPoolSetAttribute(pool: u64, attribute: u32, value: *mut AnyValue);
    optional mem_pool_trim_to = cuMemPoolTrimTo(pool: u64, min_bytes_to_keep: u64);
    optional mem_pool_set_access = cuMemPoolSetAccess(pool: u64, desc: *const CuMemAccessDesc, count: u64);
    optional mem_pool_get_access = cuMemPoolGetAccess(flags: *mut u32, pool: u64, location: *mut CuMemLocation);
    optional mem_pool_export_to_shareable_handle = cuMemPoolExportToShareableHandle(
        shareable: *mut AnyValue, pool: u64, handle_type: u32, flags: u64
    );
    optional mem_pool_import_from_shareable_handle = cuMemPoolImportFromShareableHandle(
        pool: *mut u64, os_handle: *const c_void, handle_type: u32, flags: u64
    );
    optional mem_pool_export_pointer = cuMemPoolExportPointer(share_data: *mut [u8; 64], ptr: u64);
    optional mem_pool_import_pointer = cuMemPoolImportPointer(ptr: *mut u64, pool: u64, share_data: *mut [u8; 64]);

    optional multicast_create = cuMulticastCreate(handle: *mut u64, prop: *const CuMulticastObjectProp);
    optional multicast_add_device = cuMulticastAddDevice(mc_handle: u64, device: i32);
    optional multicast_bind_mem = cuMulticastBindMem(
        mc_handle: u64, mc_offset: u64, mem_handle: u64, mem_offset: u64, size: u64, flags: u64
    );
    optional multicast_bind_addr = cuMulticastBindAddr(
        mc_handle: u64, mc_offset: u64, memptr: u64, size: u64, flags: u64
    );
    optional multicast_unbind = cuMulticastUnbind(mc_handle: u64, device: i32, mc_offset: u64, size: u64);
    optional multicast_get_granularity = cuMulticastGetGranularity(
        granularity: *mut u64, prop: *const CuMulticastObjectProp, option: u32
    );

    optional memset_d8 = cuMemsetD8_v2(dst: u64, value: u8, size: u64);
    optional memset_d8_async = cuMemsetD8Async(dst: u64, value: u8, size: u64, stream: u64);
    optional memcpy_htod = cuMemcpyHtoD_v2(dst: u64, src: *const c_void, size: u64);
    optional memcpy_dtoh = cuMemcpyDtoH_v2(dst: *mut c_void, src: u64, size: u64);
    optional memcpy_dtod = cuMemcpyDtoD_v2(dst: u64, src: u64, size: u64);
    optional memcpy_htod_async = cuMemcpyHtoDAsync_v2(dst: u64, src: *const c_void, size: u64, stream: u64);
    optional memcpy_dtoh_async = cuMemcpyDtoHAsync_v2(dst: *mut c_void, src: u64, size: u64, stream: u64);
    optional memcpy_dtod_async = cuMemcpyDtoDAsync_v2(dst: u64, src: u64, size: u64, stream: u64);

    optional module_load_data_ex = cuModuleLoadDataEx(
        module: *mut u64, image: *const c_void, count: u32, options: *mut u32, values: *mut *mut c_void
    );
    optional module_unload = cuModuleUnload(module: u64);
    optional module_get_function = cuModuleGetFunction(function: *mut u64, module: u64, name: *const c_char);
    optional module_get_global = cuModuleGetGlobal_v2(ptr: *mut u64, size: *mut u64, module: u64, name: *const c_char);
    optional func_get_attribute = cuFuncGetAttribute(value: *mut i32, attribute: u32, function: u64);
    optional occupancy_max_active_blocks_per_multiprocessor = cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut i32, function: u64, block_size: i32, dynamic_shared_bytes: u64
    );
    optional launch_kernel = cuLaunchKernel(
        function: u64, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared_bytes: u32, stream: u64, params: *mut *mut c_void, extra: *mut *mut c_void
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_that_nobody_knows_stays_a_refusal_with_its_number() {
        assert_eq!(check(0), Ok(()));
        assert_eq!(check(4_000_000_000), Err(DriverError::refused(CuResult::new(4_000_000_000))));
    }
}
