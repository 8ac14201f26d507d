//! A1: frameworks whose allocator maps memory asked for a legacy handle of it, and died.
//!
//! Whatever its handle types, however many chunks lie side by side, made here or imported: an address of mapped memory has no
//! legacy handle, and the pointer attribute says so before one is asked for.

use peermap_driver::{AllocationProp, Call, HandleType, PointerAttribute};
use peermap_model::rules;

use crate::expect::{refused, same};
use crate::process::{Mapped, Process, behind, times};
use crate::stage::Stage;
use crate::trouble::Trouble;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let process = stage.machine()?.process()?;
    process.context(0)?;
    let (granule, before) = (process.granule()?, process.free_memory()?);
    for types in [HandleType::NONE, HandleType::POSIX_FILE_DESCRIPTOR] {
        let size = times(granule, random.u64(1..=4));
        let made = process.mem_create(size, &AllocationProp::pinned_on(0, types), 0)?;
        let mapped = process.mapped_of(made, size)?;
        has_no_legacy_handle(&process, mapped, &mut random)?;
        process.give_back(mapped)?;
    }
    let size = times(granule, 2);
    let made = process.create(size)?;
    let shared = process.mem_export_to_shareable_handle(made, HandleType::POSIX_FILE_DESCRIPTOR, 0)?;
    let imported =
        process.mem_import_from_shareable_handle(shared.as_os_handle(), HandleType::POSIX_FILE_DESCRIPTOR)?;
    let mapped = process.mapped_of(imported, size)?;
    has_no_legacy_handle(&process, mapped, &mut random)?;
    process.give_back(mapped)?;
    process.mem_release(made)?;
    drop(shared);
    same("free memory at the end", process.free_memory()?, before)?;
    let allocated = process.mem_alloc(size)?;
    let inside = behind(allocated, random.u64(0..size.get()));
    same("the attribute of cuMemAlloc memory", process.pointer_get_attribute(CAPABLE, inside)?, 1)?;
    process.ipc_get_mem_handle(inside)?;
    Ok(process.mem_free(allocated)?)
}

const CAPABLE: PointerAttribute = PointerAttribute::IS_LEGACY_CUDA_IPC_CAPABLE;

fn has_no_legacy_handle(process: &Process, mapped: Mapped, random: &mut fastrand::Rng) -> Result<(), Trouble> {
    for _ in 0..8 {
        let inside = behind(mapped.ptr, random.u64(0..mapped.size.get()));
        same("the attribute of mapped memory", process.pointer_get_attribute(CAPABLE, inside)?, 0)?;
        let answer = process.ipc_get_mem_handle(inside);
        refused("cuIpcGetMemHandle of mapped memory", answer, &rules::LEGACY_1)?.naming(Call::cuMemMap)?;
    }
    Ok(())
}
