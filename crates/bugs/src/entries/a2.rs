//! A2: a binding allocated from the stream-ordered pool, whose memory has no legacy handle.
//!
//! Of any size, from the default pool or from one that can be exported: memory of a pool has no legacy handle, memory of
//! `cuMemAlloc` has one. A pool that can be exported is shared by its own descriptor.

use peermap_driver::{ByteSize, Call, DevicePtr, HandleType, MemPoolProps, PointerAttribute, Stream};
use peermap_model::rules;

use crate::expect::{refused, same};
use crate::process::{Process, behind};
use crate::stage::Stage;
use crate::trouble::Trouble;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let process = stage.machine()?.process()?;
    process.context(0)?;
    let pool = process.mem_pool_create(&MemPoolProps::pinned_on(0, HandleType::POSIX_FILE_DESCRIPTOR))?;
    for _ in 0..8 {
        let size = ByteSize::new(random.u64(1..4 << 20));
        let by_default = process.mem_alloc_async(size, Stream::NULL)?;
        let exportable = process.mem_alloc_from_pool_async(size, pool, Stream::NULL)?;
        process.ctx_synchronize()?;
        let inside = random.u64(0..size.get());
        has_no_legacy_handle(&process, behind(by_default, inside), Call::cuMemAllocAsync)?;
        has_no_legacy_handle(&process, behind(exportable, inside), Call::cuMemAllocFromPoolAsync)?;
        for pooled in [by_default, exportable] {
            process.mem_free_async(pooled, Stream::NULL)?;
        }
        process.ctx_synchronize()?;
        let allocated = process.mem_alloc(size)?;
        process.ipc_get_mem_handle(behind(allocated, inside))?;
        process.mem_free(allocated)?;
    }
    let shared = process.mem_alloc_from_pool_async(ByteSize::new(80), pool, Stream::NULL)?;
    let descriptor = process.mem_pool_export_to_shareable_handle(pool, HandleType::POSIX_FILE_DESCRIPTOR, 0)?;
    process.mem_pool_export_pointer(shared)?;
    drop(descriptor);
    process.mem_free_async(shared, Stream::NULL)?;
    process.ctx_synchronize()?;
    Ok(process.mem_pool_destroy(pool)?)
}

fn has_no_legacy_handle(process: &Process, ptr: DevicePtr, made_by: Call) -> Result<(), Trouble> {
    let capable = process.pointer_get_attribute(PointerAttribute::IS_LEGACY_CUDA_IPC_CAPABLE, ptr)?;
    same("the attribute of memory of a pool", capable, 0)?;
    refused("cuIpcGetMemHandle of memory of a pool", process.ipc_get_mem_handle(ptr), &rules::LEGACY_1)?.naming(made_by)
}
