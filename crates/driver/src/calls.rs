//! The table of calls. Everything that must exist once per call is made from it.
//!
//! A line reads like the call itself: its name in CUDA, whether it can break host memory (`[unsafe]`), its arguments
//! and what it gives. To add a call, add it here and implement it in the two backends.

/// Hands the table of driver calls to a macro.
///
/// The macro gets a list of
/// `$(#[$doc:meta])* $cuda:ident [$($unsafety:tt)*] $name:ident ( $($arg:ident : $kind:ty),* ) -> $output:ty;`.
#[macro_export]
macro_rules! for_each_call {
    ($callback:ident) => { $callback! {
/// Initialises the driver in this process.
///
/// # Errors
/// `INVALID_VALUE`: flags other than 0 (INIT-2). `NO_DEVICE`: there is none.
///
/// # Source
/// `cuInit`
cuInit [] init(flags: u32) -> ();

/// The version of CUDA that the driver supports, such as 13000. Works before [`Driver::init`].
///
/// # Source
/// `cuDriverGetVersion`
cuDriverGetVersion [] driver_get_version() -> i32;

/// The name of a code. Works before [`Driver::init`].
///
/// # Errors
/// `INVALID_VALUE`: the driver does not know the code.
///
/// # Source
/// `cuGetErrorName`
cuGetErrorName [] get_error_name(error: CuResult) -> String;

/// What a code means, in words. Works before [`Driver::init`].
///
/// # Errors
/// `INVALID_VALUE`: the driver does not know the code.
///
/// # Source
/// `cuGetErrorString`
cuGetErrorString [] get_error_string(error: CuResult) -> String;

/// How many devices this process sees.
///
/// # Source
/// `cuDeviceGetCount`
cuDeviceGetCount [] device_get_count() -> i32;

/// The device of an ordinal.
///
/// # Errors
/// `INVALID_DEVICE`: there is no such ordinal (DEVICE-1).
///
/// # Source
/// `cuDeviceGet`
cuDeviceGet [] device_get(ordinal: i32) -> Device;

/// The name of a device. A simulated one says that it is.
///
/// # Errors
/// `INVALID_DEVICE` (DEVICE-1).
///
/// # Source
/// `cuDeviceGetName`
cuDeviceGetName [] device_get_name(device: Device) -> String;

/// The identity of a device, the same in every process.
///
/// # Errors
/// `INVALID_DEVICE` (DEVICE-1).
///
/// # Source
/// `cuDeviceGetUuid`
cuDeviceGetUuid [] device_get_uuid(device: Device) -> Uuid;

/// Where a device sits: `0000:06:00.0`.
///
/// # Errors
/// `INVALID_DEVICE` (DEVICE-1).
///
/// # Source
/// `cuDeviceGetPCIBusId`
cuDeviceGetPCIBusId [] device_get_pci_bus_id(device: Device) -> String;

/// A property of a device.
///
/// # Errors
/// `INVALID_DEVICE` (DEVICE-1). `INVALID_VALUE`: unknown attribute (DEVICE-2).
///
/// # Source
/// `cuDeviceGetAttribute`
cuDeviceGetAttribute [] device_get_attribute(attribute: DeviceAttribute, device: Device) -> i32;

/// The memory of a device.
///
/// # Errors
/// `INVALID_DEVICE` (DEVICE-1).
///
/// # Source
/// `cuDeviceTotalMem`
cuDeviceTotalMem [] device_total_mem(device: Device) -> ByteSize;

/// Whether contexts of `device` may reach memory of `peer`. No device is its own peer.
///
/// # Errors
/// `INVALID_DEVICE` (DEVICE-1).
///
/// # Source
/// `cuDeviceCanAccessPeer`; trace peer, peer-access-query
cuDeviceCanAccessPeer [] device_can_access_peer(device: Device, peer: Device) -> bool;

/// Makes a context and makes it current on the calling thread.
///
/// # Errors
/// `INVALID_DEVICE` (DEVICE-1). The code of an earlier device fault of this process (FAULT-1). `OUT_OF_MEMORY`: a context
/// takes memory too (CTX-4).
///
/// # Source
/// `cuCtxCreate`; traces driver/one and driver/two
cuCtxCreate [] ctx_create(flags: u32, device: Device) -> Context;

/// Destroys a context, after its work has ended. If it is current on the calling thread it is popped.
///
/// Mappings belong to the process and stay; `cuMemAlloc` memory of the context goes.
///
/// # Errors
/// `INVALID_CONTEXT`: no such context (CTX-2).
///
/// # Source
/// `cuCtxDestroy`
cuCtxDestroy [] ctx_destroy(context: Context) -> ();

/// Replaces the context on top of the calling thread's stack. `None` takes it off and uncovers the one below.
///
/// # Errors
/// `INVALID_CONTEXT`: no such context (CTX-2).
///
/// # Source
/// `cuCtxSetCurrent`; trace edges, context-stack
cuCtxSetCurrent [] ctx_set_current(context: Option<Context>) -> ();

/// The current context of the calling thread.
///
/// # Source
/// `cuCtxGetCurrent`
cuCtxGetCurrent [] ctx_get_current() -> Option<Context>;

/// Puts a context on the calling thread's stack.
///
/// # Errors
/// `INVALID_CONTEXT`: no such context (CTX-2).
///
/// # Source
/// `cuCtxPushCurrent`
cuCtxPushCurrent [] ctx_push_current(context: Context) -> ();

/// Takes the current context off the calling thread's stack.
///
/// # Errors
/// `INVALID_CONTEXT`: the stack is empty (CTX-1).
///
/// # Source
/// `cuCtxPopCurrent`
cuCtxPopCurrent [] ctx_pop_current() -> Context;

/// The device of the current context.
///
/// # Errors
/// `INVALID_CONTEXT`: no context is current (CTX-1).
///
/// # Source
/// `cuCtxGetDevice`
cuCtxGetDevice [] ctx_get_device() -> Device;

/// Waits until all work of the current context has ended.
///
/// # Errors
/// `INVALID_CONTEXT` (CTX-1). The code of a fault of that work, and of every earlier one (FAULT-1).
///
/// # Source
/// `cuCtxSynchronize`
cuCtxSynchronize [] ctx_synchronize() -> ();

/// Lets the current context reach `cuMemAlloc` memory of a peer, past and future. It opens no `cuMemMap` memory.
///
/// # Errors
/// `INVALID_VALUE`: flags other than 0 (PEER-1). `PEER_ACCESS_UNSUPPORTED`: the devices are the same or not connected
/// (PEER-2). `PEER_ACCESS_ALREADY_ENABLED` (PEER-3). `TOO_MANY_PEERS`: the hardware has no more connections (PEER-4).
///
/// # Source
/// `cuCtxEnablePeerAccess`; trace peer, peer-access-query
cuCtxEnablePeerAccess [] ctx_enable_peer_access(peer: Context, flags: u32) -> ();

/// Takes back [`Driver::ctx_enable_peer_access`].
///
/// # Errors
/// `PEER_ACCESS_NOT_ENABLED` (PEER-5).
///
/// # Source
/// `cuCtxDisablePeerAccess`
cuCtxDisablePeerAccess [] ctx_disable_peer_access(peer: Context) -> ();

/// The primary context of a device, made if need be. It does not become current.
///
/// # Errors
/// `INVALID_DEVICE` (DEVICE-1). `OUT_OF_MEMORY` (CTX-4).
///
/// # Source
/// `cuDevicePrimaryCtxRetain`
cuDevicePrimaryCtxRetain [] device_primary_ctx_retain(device: Device) -> Context;

/// Gives back one [`Driver::device_primary_ctx_retain`]; the last one destroys the context.
///
/// # Errors
/// `INVALID_DEVICE` (DEVICE-1). `INVALID_CONTEXT`: not retained (CTX-2).
///
/// # Source
/// `cuDevicePrimaryCtxRelease`
cuDevicePrimaryCtxRelease [] device_primary_ctx_release(device: Device) -> ();

/// Makes a stream in the current context. Flag 1: it does not wait for the null stream, nor the other way round.
///
/// # Errors
/// `INVALID_CONTEXT` (CTX-1). `INVALID_VALUE`: unknown flags (STREAM-1). `OUT_OF_MEMORY`: every fourth stream takes memory
/// (STREAM-4).
///
/// # Source
/// `cuStreamCreate`; traces driver/one and driver/two
cuStreamCreate [] stream_create(flags: u32) -> Stream;

/// Destroys a stream. Its work goes on to its end; this does not wait.
///
/// # Errors
/// `INVALID_HANDLE`: no such stream (STREAM-2).
///
/// # Source
/// `cuStreamDestroy`
cuStreamDestroy [] stream_destroy(stream: Stream) -> ();

/// Waits until all work of a stream has ended.
///
/// # Errors
/// `INVALID_HANDLE` (STREAM-2). The code of a fault (FAULT-1).
///
/// # Source
/// `cuStreamSynchronize`
cuStreamSynchronize [] stream_synchronize(stream: Stream) -> ();

/// Whether all work of a stream has ended.
///
/// # Errors
/// `NOT_READY`: it has not (STREAM-3). `INVALID_HANDLE` (STREAM-2). The code of a fault (FAULT-1).
///
/// # Source
/// `cuStreamQuery`
cuStreamQuery [] stream_query(stream: Stream) -> ();

/// Lets later work of a stream wait for what the event marks now.
///
/// # Errors
/// `INVALID_HANDLE`: no such stream or event (STREAM-2, EVENT-2).
///
/// # Source
/// `cuStreamWaitEvent`
cuStreamWaitEvent [] stream_wait_event(stream: Stream, event: Event, flags: u32) -> ();

/// Makes an event in the current context. Flags: 1 blocking wait, 2 no timing, 4 inter-process (only together with 2).
///
/// # Errors
/// `INVALID_CONTEXT` (CTX-1). `INVALID_VALUE`: unknown flags, or inter-process with timing (EVENT-1).
///
/// # Source
/// `cuEventCreate`
cuEventCreate [] event_create(flags: u32) -> Event;

/// Destroys an event. Waits on it that were queued stay good.
///
/// # Errors
/// `INVALID_HANDLE` (EVENT-2).
///
/// # Source
/// `cuEventDestroy`; trace inflight, inflight-event
cuEventDestroy [] event_destroy(event: Event) -> ();

/// Marks the end of what the stream holds now.
///
/// # Errors
/// `INVALID_HANDLE` (EVENT-2, STREAM-2).
///
/// # Source
/// `cuEventRecord`
cuEventRecord [] event_record(event: Event, stream: Stream) -> ();

/// Whether the work before the mark has ended. An event without a mark is done.
///
/// # Errors
/// `NOT_READY`: it has not (EVENT-3). `INVALID_HANDLE` (EVENT-2).
///
/// # Source
/// `cuEventQuery`
cuEventQuery [] event_query(event: Event) -> ();

/// Waits until the work before the mark has ended.
///
/// # Errors
/// `INVALID_HANDLE` (EVENT-2). The code of a fault (FAULT-1).
///
/// # Source
/// `cuEventSynchronize`
cuEventSynchronize [] event_synchronize(event: Event) -> ();

/// The time between two marks.
///
/// # Units
/// Milliseconds.
///
/// # Errors
/// `INVALID_HANDLE`: an event without timing or without a mark (EVENT-4). `NOT_READY`: not both have ended (EVENT-3).
///
/// # Portability
/// The simulator gives the wall time that its own execution took.
///
/// # Source
/// `cuEventElapsedTime`
cuEventElapsedTime [] event_elapsed_time(start: Event, end: Event) -> f32;

/// The unit that sizes of allocations with these properties are multiples of. Needs no context and checks nothing.
///
/// # Source
/// `cuMemGetAllocationGranularity`; trace vmm, granularity
cuMemGetAllocationGranularity [] mem_get_allocation_granularity(
    prop: &AllocationProp, option: GranularityOption
) -> ByteSize;

/// Allocates physical memory. It reads as zero. Needs no context.
///
/// # Errors
/// `INVALID_VALUE`: flags (CREATE-1), type (CREATE-2), location type (CREATE-3), handle types of another platform
/// (CREATE-4), host memory without a NUMA node that is to be shared (CREATE-5), compression (CREATE-6), size 0 or not
/// a multiple of the granularity (CREATE-7). `INVALID_DEVICE`: no such device (CREATE-8). `NOT_PERMITTED`: a fabric
/// handle without an IMEX channel (CREATE-9). `OUT_OF_MEMORY` (CREATE-10). `NOT_SUPPORTED`: fabric handles (CREATE-11) or memory
/// of the host (CREATE-12) where devices do not support them. Under Windows `INVALID_VALUE`: a type of Linux (WIN32-1), or
/// an NT handle without security attributes (WIN32-2).
///
/// # Source
/// `cuMemCreate`; trace vmm, create-sizes and create-props
cuMemCreate [] mem_create(size: ByteSize, prop: &AllocationProp, flags: u64) -> MemHandle;

/// Gives back a handle. Mappings stay.
///
/// # Errors
/// `INVALID_VALUE`: null, or released as often as it was obtained (RELEASE-1). A handle that was never handed out
/// crashes the real driver (HANDLE-1).
///
/// # Source
/// `cuMemRelease`; trace vmm, release-twice and retain
cuMemRelease [] mem_release(handle: MemHandle) -> ();

/// Reserves addresses.
///
/// # Errors
/// `INVALID_VALUE`: size 0 or not a multiple of the granularity (RESERVE-1), alignment no power of two (RESERVE-2),
/// address hint misaligned (RESERVE-3), flags (RESERVE-4). `OUT_OF_MEMORY`: no such range is free (RESERVE-5).
///
/// # Source
/// `cuMemAddressReserve`; trace vmm, reserve-args
cuMemAddressReserve [] mem_address_reserve(
    size: ByteSize, alignment: ByteSize, addr: DevicePtr, flags: u64
) -> DevicePtr;

/// Gives back a whole reservation.
///
/// # Errors
/// `INVALID_VALUE`: not exactly a reservation (FREE-1), or a mapping touches it (FREE-2).
///
/// # Source
/// `cuMemAddressFree`; trace vmm, free-args; trace edges, overlap-by-neighbour
cuMemAddressFree [] mem_address_free(ptr: DevicePtr, size: ByteSize) -> ();

/// Maps a whole allocation. Nobody has access yet.
///
/// # Errors
/// `INVALID_VALUE`: flags (MAP-1), null address or handle (MAP-2), size 0 (MAP-3), start outside any reservation
/// (MAP-6), misaligned (MAP-7), over another mapping (MAP-8). `NOT_SUPPORTED`: an offset (MAP-4), a size other than the
/// allocation's (MAP-5). A handle that is gone or was never handed out crashes the real driver (HANDLE-1).
///
/// # Source
/// `cuMemMap`; trace vmm, map-args; trace edges, map-outside
cuMemMap [] mem_map(ptr: DevicePtr, size: ByteSize, offset: ByteSize, handle: MemHandle, flags: u64) -> ();

/// Removes every mapping in a range, at once: it does not wait for work that still uses them.
///
/// # Errors
/// `INVALID_VALUE`: size 0 (UNMAP-1), start outside any reservation (UNMAP-2), a mapping cut in two (UNMAP-3).
///
/// # Source
/// `cuMemUnmap`; trace vmm, unmap-args; trace edges, unmap-sizes; trace inflight, memset-then-unmap
cuMemUnmap [] mem_unmap(ptr: DevicePtr, size: ByteSize) -> ();

/// Sets the rights of the named places on whole mappings. Places that are not named keep theirs.
///
/// # Errors
/// `INVALID_VALUE`: size 0 or nobody named (ACCESS-1), unknown device or location type (ACCESS-2), unknown rights
/// (ACCESS-3), the range starts or ends in no mapping (ACCESS-4), a mapping cut in two (ACCESS-5). `NOT_SUPPORTED`: a
/// host location on device memory (ACCESS-6).
///
/// # Source
/// `cuMemSetAccess`; trace vmm, access-args; trace edges, access-all-or-nothing and access-host
cuMemSetAccess [] mem_set_access(ptr: DevicePtr, size: ByteSize, desc: &[AccessDesc]) -> ();

/// The rights of a place at an address.
///
/// # Errors
/// `INVALID_VALUE`: nothing is mapped there (GETACCESS-1). `INVALID_DEVICE`: unknown device or location type
/// (GETACCESS-2).
///
/// # Source
/// `cuMemGetAccess`; trace vmm, access-args; trace edges, access-host
cuMemGetAccess [] mem_get_access(ptr: DevicePtr, location: Location) -> AccessFlags;

/// Makes something of an allocation that another process can import.
///
/// # Errors
/// `INVALID_VALUE`: null handle (EXPORT-1), flags (EXPORT-2), a type that was not asked for at creation, or an imported
/// handle (EXPORT-3). A handle that is gone crashes the real driver (HANDLE-1).
///
/// # Source
/// `cuMemExportToShareableHandle`; trace share, export-args and importer-reexports
cuMemExportToShareableHandle [] mem_export_to_shareable_handle(
    handle: MemHandle, handle_type: HandleType, flags: u64
) -> ShareableHandle;

/// A handle to what another process exported: a new one each time.
///
/// # Errors
/// `INVALID_VALUE`: descriptor 0 (IMPORT-1), type none (IMPORT-2). `NOT_SUPPORTED`: a type of another platform
/// (IMPORT-3), or a descriptor of a pool (IMPORT-6). `UNKNOWN`: a closed descriptor, or one that is no device memory
/// (IMPORT-4). Of fabric handles, `INVALID_VALUE`: its memory is not there any more, or its bytes are wrong (IMPORT-5).
/// `NOT_PERMITTED`: no IMEX channel in common (FABRIC-1). `INVALID_HANDLE`: another IMEX domain (FABRIC-2), or no daemon
/// (FABRIC-3). Of NT handles, `INVALID_VALUE`: it is in the table of another process (WIN32-3).
///
/// # Source
/// `cuMemImportFromShareableHandle`; trace share, import-args; trace edges, import-wrong-descriptor
cuMemImportFromShareableHandle [] mem_import_from_shareable_handle(
    from: OsHandle<'_>, handle_type: HandleType
) -> MemHandle;

/// The handle that was used to map an address, with one reference more.
///
/// # Errors
/// `INVALID_VALUE`: nothing is mapped there by `cuMemMap` (RETAIN-1).
///
/// # Source
/// `cuMemRetainAllocationHandle`; trace vmm, retain
cuMemRetainAllocationHandle [] mem_retain_allocation_handle(addr: DevicePtr) -> MemHandle;

/// The properties of an allocation. An imported handle reports no handle types.
///
/// # Errors
/// `INVALID_VALUE`: null handle (PROPS-1). A handle that is gone crashes the real driver (HANDLE-1).
///
/// # Source
/// `cuMemGetAllocationPropertiesFromHandle`; trace share, import-same-process
cuMemGetAllocationPropertiesFromHandle [] mem_get_allocation_properties_from_handle(
    handle: MemHandle
) -> AllocationProp;

/// Allocates memory of the current context's device.
///
/// # Errors
/// `INVALID_CONTEXT` (CTX-1). `INVALID_VALUE`: size 0 (ALLOC-1). `OUT_OF_MEMORY` (ALLOC-2).
///
/// # Source
/// `cuMemAlloc`
cuMemAlloc [] mem_alloc(size: ByteSize) -> DevicePtr;

/// Frees memory of [`Driver::mem_alloc`] after waiting for work that may use it. Null is fine.
///
/// # Errors
/// `INVALID_VALUE`: not the start of such memory (ALLOC-3).
///
/// # Source
/// `cuMemFree`; trace vmm, malloc-on-vmm-calls; trace inflight, memset-then-free
cuMemFree [] mem_free(ptr: DevicePtr) -> ();

/// Free and total memory of the current context's device.
///
/// # Errors
/// `INVALID_CONTEXT` (CTX-1).
///
/// # Source
/// `cuMemGetInfo`
cuMemGetInfo [] mem_get_info() -> MemInfo;

/// Start and size of the allocation or mapping that holds an address.
///
/// # Errors
/// `INVALID_CONTEXT`: no current context (CTX-1). `NOT_FOUND`: none does (RANGE-1), no device has a right on the mapping
/// (RANGE-2), or the context does not reach the allocation (RANGE-3).
///
/// # Source
/// `cuMemGetAddressRange`; trace vmm, address-range
cuMemGetAddressRange [] mem_get_address_range(ptr: DevicePtr) -> (DevicePtr, ByteSize);

/// A property of what an address points to, as a number: an address, a size, a context, a mask or a truth value.
///
/// # Errors
/// `INVALID_VALUE`: nothing is there (POINTER-1), or the attribute is unknown (POINTER-2), or the device pointer is asked
/// for and the current context's device has no right (POINTER-3). `INVALID_CONTEXT`: the device pointer without a current
/// context (CTX-1).
///
/// # Source
/// `cuPointerGetAttribute`; trace vmm, address-range
cuPointerGetAttribute [] pointer_get_attribute(attribute: PointerAttribute, ptr: DevicePtr) -> u64;

/// Allocates memory of the current pool of the stream's device ([`Driver::device_get_mem_pool`]), in order with a stream. Size 0
/// gives a null address.
///
/// # Errors
/// `INVALID_CONTEXT` (CTX-1). `INVALID_HANDLE` (STREAM-2). `OUT_OF_MEMORY` (POOL-7).
///
/// # Source
/// `cuMemAllocAsync`; trace pools/one, pool-sizes
cuMemAllocAsync [] mem_alloc_async(size: ByteSize, stream: Stream) -> DevicePtr;

/// Allocates memory of a pool, in order with a stream.
///
/// # Errors
/// As [`Driver::mem_alloc_async`]. `INVALID_VALUE`: no such pool, or one of another process (POOL-1, POOL-2).
///
/// # Source
/// `cuMemAllocFromPoolAsync`; trace pools/one, pool-sizes
cuMemAllocFromPoolAsync [] mem_alloc_from_pool_async(size: ByteSize, pool: MemPool, stream: Stream) -> DevicePtr;

/// Frees memory of a pool, of [`Driver::mem_alloc`] or of an imported pool, in order with a stream. The pool keeps it
/// until a synchronisation sees the free through, and beyond that up to its release threshold. Null is fine.
///
/// # Errors
/// `INVALID_CONTEXT` (CTX-1). `INVALID_HANDLE` (STREAM-2). `INVALID_VALUE`: not the start of such memory (POOL-8).
///
/// # Source
/// `cuMemFreeAsync`; trace pools/one, pool-free and pool-release
cuMemFreeAsync [] mem_free_async(ptr: DevicePtr, stream: Stream) -> ();

/// The pool that a device has from the start.
///
/// # Errors
/// `INVALID_DEVICE` (DEVICE-1).
///
/// # Source
/// `cuDeviceGetDefaultMemPool`; trace pools/one, pool-current
cuDeviceGetDefaultMemPool [] device_get_default_mem_pool(device: Device) -> MemPool;

/// The pool that [`Driver::mem_alloc_async`] takes memory of a device from.
///
/// # Errors
/// `INVALID_VALUE`: no such device (POOL-9).
///
/// # Source
/// `cuDeviceGetMemPool`; trace pools/one, pool-current
cuDeviceGetMemPool [] device_get_mem_pool(device: Device) -> MemPool;

/// Makes a pool the one that [`Driver::mem_alloc_async`] takes memory of a device from.
///
/// # Errors
/// `INVALID_VALUE`: no such device (POOL-9), no such pool, one of another process (POOL-1, POOL-2), or one of another place
/// (POOL-10).
///
/// # Source
/// `cuDeviceSetMemPool`; trace pools/one, pool-current
cuDeviceSetMemPool [] device_set_mem_pool(device: Device, pool: MemPool) -> ();

/// Makes a pool.
///
/// # Errors
/// `INVALID_VALUE`: a type other than pinned (POOL-3), handle types of another platform (POOL-4), a place that cannot
/// hold memory, or memory that can be shared (POOL-5).
///
/// # Source
/// `cuMemPoolCreate`; trace pools/one, pool-create
cuMemPoolCreate [] mem_pool_create(props: &MemPoolProps) -> MemPool;

/// Destroys a pool. Its allocations stay until they are freed; a device whose current pool it was goes back to its default one.
///
/// # Errors
/// `INVALID_VALUE`: no such pool (POOL-1), a default pool (POOL-6), or an imported one of which allocations are imported
/// (POOL-11).
///
/// # Source
/// `cuMemPoolDestroy`; trace pools/one, pool-destroy; trace pools/one, pool-share
cuMemPoolDestroy [] mem_pool_destroy(pool: MemPool) -> ();

/// A property of a pool, as a number: a size or a truth value.
///
/// # Errors
/// `INVALID_VALUE`: no such pool, one of another process (POOL-1, POOL-2), or an unknown attribute (POOL-12).
///
/// # Source
/// `cuMemPoolGetAttribute`; trace pools/one, pool-attributes
cuMemPoolGetAttribute [] mem_pool_get_attribute(pool: MemPool, attribute: MemPoolAttribute) -> u64;

/// Changes a property of a pool. A high-water mark can be set to 0 only, which lets it begin again at the current value.
///
/// # Errors
/// `INVALID_VALUE`: no such pool, one of another process (POOL-1, POOL-2), an unknown attribute or one that cannot be
/// changed (POOL-12), or a high-water mark other than 0 (POOL-13).
///
/// # Source
/// `cuMemPoolSetAttribute`; trace pools/one, pool-attributes
cuMemPoolSetAttribute [] mem_pool_set_attribute(pool: MemPool, attribute: MemPoolAttribute, value: u64) -> ();

/// Gives memory that a pool does not use back to the device, but leaves so much reserved.
///
/// # Errors
/// `INVALID_VALUE`: no such pool, or one of another process (POOL-1, POOL-2).
///
/// # Source
/// `cuMemPoolTrimTo`; trace pools/one, pool-release
cuMemPoolTrimTo [] mem_pool_trim_to(pool: MemPool, min_bytes_to_keep: ByteSize) -> ();

/// Sets the rights of places on all memory of a pool, past and future.
///
/// # Errors
/// `INVALID_VALUE`: no such pool (POOL-1), unknown rights (POOL-25). `INVALID_DEVICE`: unknown device, one that cannot
/// reach the pool (POOL-14), or no rights for the pool's own device (POOL-15). `NOT_SUPPORTED`: rights to read only, or
/// a place other than a device (POOL-16).
///
/// # Source
/// `cuMemPoolSetAccess`; trace pools/one, pool-access
cuMemPoolSetAccess [] mem_pool_set_access(pool: MemPool, desc: &[AccessDesc]) -> ();

/// The rights of a place on the memory of a pool.
///
/// # Errors
/// `INVALID_VALUE`: no such pool (POOL-1), or no such place (POOL-17).
///
/// # Source
/// `cuMemPoolGetAccess`; trace pools/one, pool-access
cuMemPoolGetAccess [] mem_pool_get_access(pool: MemPool, location: Location) -> AccessFlags;

/// Makes something of a pool that another process can import.
///
/// # Errors
/// `INVALID_VALUE`: no such pool, one of another process (POOL-1, POOL-2), flags, or a type that was not asked for at
/// creation (POOL-18). `NOT_PERMITTED`: a pool with fabric handles without an IMEX channel (POOL-19). `NOT_SUPPORTED`: the
/// device has no fabric handles (POOL-26).
///
/// # Source
/// `cuMemPoolExportToShareableHandle`; trace pools/one, pool-export
cuMemPoolExportToShareableHandle [] mem_pool_export_to_shareable_handle(
    pool: MemPool, handle_type: HandleType, flags: u64
) -> ShareableHandle;

/// A pool that another process exported: the same one each time. Nothing can be allocated from it.
///
/// # Errors
/// `INVALID_VALUE`: descriptor 0, flags, or no single known type (POOL-20). `NOT_SUPPORTED`: a type of another platform
/// (POOL-21), or a descriptor of memory (POOL-27). `UNKNOWN`: a descriptor that is closed or something else (POOL-22). Of
/// fabric handles, `NOT_PERMITTED` (FABRIC-1) and `INVALID_HANDLE` (FABRIC-2, FABRIC-3), as for memory.
///
/// # Source
/// `cuMemPoolImportFromShareableHandle`; trace pools/one, pool-import
cuMemPoolImportFromShareableHandle [] mem_pool_import_from_shareable_handle(
    from: OsHandle<'_>, handle_type: HandleType, flags: u64
) -> MemPool;

/// What another process needs to find an allocation of an exported pool.
///
/// # Errors
/// `INVALID_VALUE`: not the start of an allocation of a pool of this process that was exported before (POOL-23). The real
/// driver crashes if the pool has fabric handles only and was not exported (HANDLE-3).
///
/// # Source
/// `cuMemPoolExportPointer`; trace pools/one, pool-export
cuMemPoolExportPointer [] mem_pool_export_pointer(ptr: DevicePtr) -> MemPoolPtrExportData;

/// Maps an allocation of an imported pool. Importing it again gives the same address and does not count.
///
/// # Errors
/// `INVALID_VALUE`: no such pool (POOL-1), or no imported one, or no such allocation of it (POOL-24).
///
/// # Source
/// `cuMemPoolImportPointer`; trace pools/one, pool-share
cuMemPoolImportPointer [] mem_pool_import_pointer(pool: MemPool, share_data: &MemPoolPtrExportData) -> DevicePtr;

/// Makes a multicast object: a team of devices that has none yet. Its handle is one of memory: [`Driver::mem_map`],
/// [`Driver::mem_export_to_shareable_handle`] and [`Driver::mem_release`] take it.
///
/// # Errors
/// `NOT_SUPPORTED`: no device knows multicast (MULTICAST-1), or fabric handles (MULTICAST-5). `INVALID_VALUE`: flags, or a team
/// of no devices (MULTICAST-2), a size of 0 or no multiple of the team's granularity (MULTICAST-3), handle types of another
/// platform (MULTICAST-4). `NOT_PERMITTED`: a fabric handle without an IMEX channel (MULTICAST-5). `OUT_OF_MEMORY`
/// (MULTICAST-6).
///
/// # Portability
/// The real backend refuses this call and the five that follow with `NOT_PERMITTED`, unless the owner of the machine has set
/// `PEERMAP_ALLOW_MULTICAST=1`: on some hosts they have put GPUs out of service.
///
/// # Source
/// `cuMulticastCreate`
cuMulticastCreate [] multicast_create(prop: &MulticastObjectProp) -> MemHandle;

/// Adds a device to a team, for as long as the team lives.
///
/// # Errors
/// `INVALID_VALUE`: no handle of a team (MULTICAST-7), a team that is complete or has the device (MULTICAST-9).
/// `INVALID_DEVICE`: unknown device (MULTICAST-8), or one that is not connected to the others (MULTICAST-10).
/// `NOT_SUPPORTED`: the device does not know multicast (MULTICAST-1).
///
/// # Source
/// `cuMulticastAddDevice`
cuMulticastAddDevice [] multicast_add_device(mc_handle: MemHandle, device: Device) -> ();

/// Binds memory of a device of the team. It waits until all devices have been added (WAIT-1).
///
/// # Errors
/// `INVALID_VALUE`: no handle of a team (MULTICAST-7), or none of memory (MULTICAST-12), flags (MULTICAST-13), a size of 0, size
/// or offsets no multiples of the team's granularity (MULTICAST-14), more than the memory or the team has (MULTICAST-15), memory
/// of something else than a device of the team (MULTICAST-16), memory that cannot be shared for a team that can (MULTICAST-17).
///
/// # Source
/// `cuMulticastBindMem`
cuMulticastBindMem [] multicast_bind_mem(
    mc_handle: MemHandle, mc_offset: ByteSize, mem_handle: MemHandle, mem_offset: ByteSize, size: ByteSize, flags: u64
) -> ();

/// Binds memory of a device of the team by the address where it is mapped. It waits as [`Driver::multicast_bind_mem`] does.
///
/// # Errors
/// As [`Driver::multicast_bind_mem`]; `INVALID_VALUE` if no memory of `cuMemCreate` is mapped there (MULTICAST-12).
///
/// # Source
/// `cuMulticastBindAddr`
cuMulticastBindAddr [] multicast_bind_addr(
    mc_handle: MemHandle, mc_offset: ByteSize, memptr: DevicePtr, size: ByteSize, flags: u64
) -> ();

/// Takes back what was bound of a device. Offset and size must be those of a bind.
///
/// # Errors
/// `INVALID_VALUE`: no handle of a team (MULTICAST-7), size or offset no multiples of the team's granularity (MULTICAST-14), more
/// than the team has (MULTICAST-15). `INVALID_DEVICE`: not a device of the team (MULTICAST-8).
///
/// # Source
/// `cuMulticastUnbind`
cuMulticastUnbind [] multicast_unbind(
    mc_handle: MemHandle, device: Device, mc_offset: ByteSize, size: ByteSize
) -> ();

/// What sizes and offsets of a team are multiples of.
///
/// # Errors
/// `NOT_SUPPORTED`: no device knows multicast (MULTICAST-1). `INVALID_VALUE`: flags, or a team of no devices (MULTICAST-2),
/// unknown option (MULTICAST-18).
///
/// # Source
/// `cuMulticastGetGranularity`
cuMulticastGetGranularity [] multicast_get_granularity(
    prop: &MulticastObjectProp, option: GranularityOption
) -> ByteSize;

/// A legacy handle to memory of [`Driver::mem_alloc`].
///
/// # Errors
/// `INVALID_CONTEXT`: no current context (CTX-1). `INVALID_VALUE`: not such memory, `cuMemMap` memory included (LEGACY-1).
///
/// # Source
/// `cuIpcGetMemHandle`; trace legacy, ipc-mem-args; trace vmm, malloc-on-vmm-calls
cuIpcGetMemHandle [] ipc_get_mem_handle(ptr: DevicePtr) -> IpcMemHandle;

/// Opens memory of another process by its legacy handle, in the current context. Opening it again counts, and gives the
/// same address, even after its owner freed it or is gone. A handle taken inside an allocation opens the whole.
///
/// # Errors
/// `INVALID_CONTEXT` (CTX-1), or a handle of this very process (LEGACY-3). `INVALID_VALUE`: flags without 1
/// (LEGACY-2), or memory that its owner freed (LEGACY-5). `INVALID_HANDLE`: its owner is gone (LEGACY-4), or it is open in another
/// context of this process on the device (LEGACY-6). `OUT_OF_MEMORY` (LEGACY-8).
///
/// # Source
/// `cuIpcOpenMemHandle`; trace legacy, ipc-mem and ipc-mem-args
cuIpcOpenMemHandle [] ipc_open_mem_handle(handle: &IpcMemHandle, flags: u32) -> DevicePtr;

/// Takes back one [`Driver::ipc_open_mem_handle`]. The memory goes from this process with the last one.
///
/// # Errors
/// `INVALID_CONTEXT`: no current context (CTX-1). `INVALID_VALUE`: not an address that it gave (LEGACY-7).
///
/// # Source
/// `cuIpcCloseMemHandle`; trace legacy, ipc-mem
cuIpcCloseMemHandle [] ipc_close_mem_handle(ptr: DevicePtr) -> ();

/// A handle to an event that was made for other processes.
///
/// # Errors
/// `INVALID_HANDLE`: not made for other processes, or opened from one (EVENT-5).
///
/// # Source
/// `cuIpcGetEventHandle`; trace legacy, ipc-events
cuIpcGetEventHandle [] ipc_get_event_handle(event: Event) -> IpcEventHandle;

/// Opens an event of another process. It opens while its maker lives, and after that while any process holds it.
///
/// # Errors
/// `INVALID_CONTEXT` (CTX-1), or an event of this very process (EVENT-6). `INVALID_HANDLE`: nobody
/// keeps it (EVENT-7).
///
/// # Source
/// `cuIpcOpenEventHandle`; trace legacy, ipc-events and ipc-event-same-process
cuIpcOpenEventHandle [] ipc_open_event_handle(handle: &IpcEventHandle) -> Event;

/// Fills with a byte, in order with the null stream. It returns before the work is done.
///
/// # Errors
/// `INVALID_CONTEXT` (CTX-1). `INVALID_VALUE`: not all of it is writable by the context's device (COPY-1), or it is
/// `cuMemAlloc` memory of a device that the context's has no peer access to, or opened in another context (COPY-2).
///
/// # Source
/// `cuMemsetD8`; trace vmm, copy-faults
cuMemsetD8 [] memset_d8(ptr: DevicePtr, value: u8, size: ByteSize) -> ();

/// Fills with a byte, in order with a stream.
///
/// # Errors
/// As [`Driver::memset_d8`], and `INVALID_HANDLE` (STREAM-2).
///
/// # Source
/// `cuMemsetD8Async`
cuMemsetD8Async [] memset_d8_async(ptr: DevicePtr, value: u8, size: ByteSize, stream: Stream) -> ();

/// Copies from the host, in order with the null stream, and waits.
///
/// # Errors
/// `INVALID_CONTEXT` (CTX-1). `INVALID_VALUE`: not all of it is writable by the context's device (COPY-1).
///
/// # Source
/// `cuMemcpyHtoD`
cuMemcpyHtoD [] memcpy_htod(dst: DevicePtr, src: &[u8]) -> ();

/// Copies to the host, in order with the null stream, and waits.
///
/// # Errors
/// `INVALID_CONTEXT` (CTX-1). `INVALID_VALUE`: not all of it is readable by the context's device (COPY-1), or it is memory of
/// a pool of the host (COPY-3).
///
/// # Source
/// `cuMemcpyDtoH`; trace inflight, copy-order
cuMemcpyDtoH [] memcpy_dtoh(dst: &mut [u8], src: DevicePtr) -> ();

/// Copies between device addresses, in order with the null stream. It returns before the work is done.
///
/// # Errors
/// As the copies above, for both ends.
///
/// # Source
/// `cuMemcpyDtoD`
cuMemcpyDtoD [] memcpy_dtod(dst: DevicePtr, src: DevicePtr, size: ByteSize) -> ();

/// Copies between device addresses, in order with a stream.
///
/// # Errors
/// As [`Driver::memcpy_dtod`], and `INVALID_HANDLE` (STREAM-2).
///
/// # Source
/// `cuMemcpyDtoDAsync`
cuMemcpyDtoDAsync [] memcpy_dtod_async(dst: DevicePtr, src: DevicePtr, size: ByteSize, stream: Stream) -> ();

/// Copies from page-locked host memory, in order with a stream. [`crate::PinnedBuffer`] is the safe way.
///
/// # Safety
/// `src` must be page-locked memory of at least `size` bytes that stays allocated and unwritten until the copy has
/// ended.
///
/// # Errors
/// As [`Driver::memcpy_htod`], and `INVALID_HANDLE` (STREAM-2).
///
/// # Source
/// `cuMemcpyHtoDAsync`
cuMemcpyHtoDAsync [unsafe] memcpy_htod_async(dst: DevicePtr, src: HostPtr, size: ByteSize, stream: Stream) -> ();

/// Copies to page-locked host memory, in order with a stream. [`crate::PinnedBuffer`] is the safe way.
///
/// # Safety
/// `dst` must be page-locked memory of at least `size` bytes that stays allocated and untouched until the copy has
/// ended.
///
/// # Errors
/// As [`Driver::memcpy_dtoh`], and `INVALID_HANDLE` (STREAM-2).
///
/// # Source
/// `cuMemcpyDtoHAsync`
cuMemcpyDtoHAsync [unsafe] memcpy_dtoh_async(dst: HostPtr, src: DevicePtr, size: ByteSize, stream: Stream) -> ();

/// Allocates page-locked host memory. Its first contents are not defined.
///
/// # Errors
/// `INVALID_CONTEXT` (CTX-1). `INVALID_VALUE`: size 0 (HOST-1). `OUT_OF_MEMORY`.
///
/// # Source
/// `cuMemHostAlloc`
cuMemHostAlloc [] mem_host_alloc(size: ByteSize, flags: u32) -> HostPtr;

/// Frees page-locked host memory.
///
/// # Safety
/// Nothing may use the memory any more: no copy in flight, no reference.
///
/// # Errors
/// `INVALID_VALUE`: not such memory (HOST-2).
///
/// # Source
/// `cuMemFreeHost`
cuMemFreeHost [unsafe] mem_free_host(ptr: HostPtr) -> ();

/// Loads code into the current context: PTX text, which the driver compiles, or a cubin.
///
/// The logs that `options` asks for are filled whether it succeeds or not.
///
/// # Errors
/// `INVALID_CONTEXT` (CTX-1). `INVALID_PTX` (MODULE-1). `UNSUPPORTED_PTX_VERSION`: newer than the driver (MODULE-2).
/// `NO_BINARY_FOR_GPU` or `INVALID_IMAGE`: a cubin for another device, or no code (MODULE-3).
///
/// # Portability
/// The simulator does not model cubins.
///
/// # Source
/// `cuModuleLoadDataEx`
cuModuleLoadDataEx [] module_load_data_ex(image: &[u8], options: &mut JitOptions) -> Module;

/// Unloads code, after the context's work has ended.
///
/// # Errors
/// `INVALID_HANDLE`: no such module (MODULE-4).
///
/// # Source
/// `cuModuleUnload`
cuModuleUnload [] module_unload(module: Module) -> ();

/// A kernel of a module by its name.
///
/// # Errors
/// `NOT_FOUND`: it has none of that name (MODULE-5). `INVALID_HANDLE` (MODULE-4).
///
/// # Source
/// `cuModuleGetFunction`
cuModuleGetFunction [] module_get_function(module: Module, name: &str) -> Function;

/// A variable of a module by its name: where it is and how large.
///
/// # Errors
/// `NOT_FOUND`: it has none of that name (MODULE-7). `INVALID_HANDLE` (MODULE-4).
///
/// # Source
/// `cuModuleGetGlobal`
cuModuleGetGlobal [] module_get_global(module: Module, name: &str) -> (DevicePtr, ByteSize);

/// A property of a kernel.
///
/// # Errors
/// `INVALID_HANDLE` (MODULE-4). `INVALID_VALUE`: unknown attribute (MODULE-6).
///
/// # Source
/// `cuFuncGetAttribute`
cuFuncGetAttribute [] func_get_attribute(attribute: FunctionAttribute, function: Function) -> i32;

/// How many blocks of a size fit a multiprocessor at once; 0 of a block that could not be launched.
///
/// # Errors
/// `INVALID_VALUE`: a block of no threads (LAUNCH-1). `INVALID_HANDLE` (MODULE-4).
///
/// # Source
/// `cuOccupancyMaxActiveBlocksPerMultiprocessor`
cuOccupancyMaxActiveBlocksPerMultiprocessor [] occupancy_max_active_blocks_per_multiprocessor(
    function: Function, block_size: i32, dynamic_shared_bytes: ByteSize
) -> i32;

/// Queues a kernel. A fault shows at the next call that synchronises.
///
/// # Safety
/// `args` must match the kernel's parameters in number and size: the driver reads as many bytes as the kernel declares.
///
/// # Errors
/// `INVALID_CONTEXT` (CTX-1). `INVALID_VALUE`: a block of no threads, over 1,024 or of more than the kernel declares
/// (LAUNCH-1), a grid out of range (LAUNCH-2), too much shared memory (LAUNCH-3), not the block that the kernel requires
/// (LAUNCH-5). `LAUNCH_OUT_OF_RESOURCES`: no registers for so many threads (LAUNCH-4). `INVALID_HANDLE` (MODULE-4,
/// STREAM-2).
///
/// # Source
/// `cuLaunchKernel`; trace vmm, kernel-fault-unmapped
cuLaunchKernel [unsafe] launch_kernel(config: &LaunchConfig, args: &[KernelArg]) -> ();
    } };
}
