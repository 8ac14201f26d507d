//! Peer access to memory of `cuMemAlloc`, which belongs to contexts and is told apart by device.

use peermap_driver::{
    AccessDesc, AllocationProp, ByteSize, Context, CuResult, Device, DevicePtr, Dim3, Driver, DriverError, Function,
    HandleType, JitOptions, KernelArg, LaunchConfig, Stream,
};
use peermap_sim::SimProcess;

use crate::support::{GRANULE, in_context, machine, process, refusal, rule};

const KERNELS: &str = include_str!("../../../../kernels/memmap_ipc.ptx");

/// A process, memory of its device 1, and the context that owns it.
fn with_peer() -> (SimProcess, DevicePtr, Context) {
    let process = process(&machine());
    let peer = process.ctx_create(0, Device(1)).unwrap();
    (process.clone(), process.mem_alloc(GRANULE).unwrap(), peer)
}

/// Whether a kernel in the current context can write the memory. A refusal is the end of the process's contexts.
fn kernel_writes(process: &SimProcess, ptr: DevicePtr) -> Result<(), DriverError> {
    let module = process.module_load_data_ex(KERNELS.as_bytes(), &mut JitOptions::default())?;
    let function: Function = process.module_get_function(module, "fill_byte")?;
    let one = Dim3::x(1);
    let config = LaunchConfig { function, grid: one, block: one, shared_bytes: ByteSize::ZERO, stream: Stream::NULL };
    // SAFETY: these are the parameters that the kernel declares.
    unsafe { process.launch_kernel(&config, &[KernelArg::Ptr(ptr), KernelArg::U64(8), KernelArg::U8(1)]) }?;
    process.ctx_synchronize()
}

#[test]
fn a_copy_on_a_stream_of_another_context_wants_the_current_device_to_have_rights_too() {
    let process = in_context(&machine());
    let here = process.ctx_get_current().unwrap();
    process.ctx_create(0, Device(1)).unwrap();
    let (stream, size) = (process.stream_create(1).unwrap(), ByteSize::mib(2));
    let memory = |rights: &[AccessDesc]| {
        let ptr = process.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0).unwrap();
        let handle = process.mem_create(size, &AllocationProp::pinned_on(1, HandleType::NONE), 0).unwrap();
        process.mem_map(ptr, size, ByteSize::ZERO, handle, 0).unwrap();
        process.mem_set_access(ptr, size, rights).unwrap();
        ptr
    };
    let (own, both) = ([AccessDesc::read_write(1)], [0, 1].map(AccessDesc::read_write));
    let (from, to, shared) = (memory(&own), memory(&both), memory(&both));
    process.memcpy_dtod_async(to, from, size, stream).unwrap();
    process.ctx_set_current(here).unwrap();
    assert_eq!(rule(process.memcpy_dtod_async(to, from, size, stream)), "COPY-1");
    process.memcpy_dtod_async(to, shared, size, stream).unwrap();
}

#[test]
fn a_kernel_reaches_peer_memory_with_peer_access_only() {
    let (process, ptr, peer) = with_peer();
    process.ctx_create(0, Device(0)).unwrap();
    process.ctx_enable_peer_access(peer, 0).unwrap();
    assert_eq!(kernel_writes(&process, ptr), Ok(()));
    process.ctx_disable_peer_access(peer).unwrap();
    assert_eq!(rule(kernel_writes(&process, ptr)), "FAULT-1");
}

#[test]
fn memory_that_is_allocated_later_is_reached_too() {
    let (process, _, peer) = with_peer();
    let context = process.ctx_create(0, Device(0)).unwrap();
    process.ctx_enable_peer_access(peer, 0).unwrap();
    process.ctx_push_current(peer).unwrap();
    let ptr = process.mem_alloc(GRANULE).unwrap();
    process.ctx_set_current(Some(context)).unwrap();
    assert_eq!(kernel_writes(&process, ptr), Ok(()));
}

#[test]
fn disabling_in_one_context_leaves_another_of_the_device_its_access() {
    let (process, ptr, peer) = with_peer();
    let first = process.ctx_create(0, Device(0)).unwrap();
    process.ctx_enable_peer_access(peer, 0).unwrap();
    process.ctx_create(0, Device(0)).unwrap();
    process.ctx_enable_peer_access(peer, 0).unwrap();
    process.ctx_disable_peer_access(peer).unwrap();
    process.ctx_push_current(first).unwrap();
    assert_eq!(kernel_writes(&process, ptr), Ok(()));
}

#[test]
fn access_ends_with_the_context_that_had_it() {
    let (process, ptr, peer) = with_peer();
    let context = process.ctx_create(0, Device(0)).unwrap();
    process.ctx_enable_peer_access(peer, 0).unwrap();
    process.ctx_destroy(context).unwrap();
    process.ctx_create(0, Device(0)).unwrap();
    assert_eq!(rule(kernel_writes(&process, ptr)), "FAULT-1");
}

#[test]
fn wrong_peers_are_refused() {
    let (process, _, peer) = with_peer();
    assert_eq!(refusal(process.ctx_enable_peer_access(peer, 0)), ("PEER-2", Some(CuResult::PEER_ACCESS_UNSUPPORTED)));
    process.ctx_create(0, Device(0)).unwrap();
    assert_eq!(rule(process.ctx_enable_peer_access(peer, 1)), "PEER-1");
    assert_eq!(rule(process.ctx_disable_peer_access(peer)), "PEER-5");
    process.ctx_enable_peer_access(peer, 0).unwrap();
    assert_eq!(rule(process.ctx_enable_peer_access(peer, 0)), "PEER-3");
    process.ctx_destroy(peer).unwrap();
    assert_eq!(rule(process.ctx_enable_peer_access(peer, 0)), "CTX-2");
}
