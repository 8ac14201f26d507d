//! D1: each buffer kept one reference that nobody released.
//!
//! Creation gives one reference, each `cuMemRetainAllocationHandle` one more. As long as one is left, the memory is charged, however
//! often it was unmapped; the simulator says which call made what is still held.

use peermap_driver::{ByteSize, Call, MemHandle};
use peermap_model::Holding;

use crate::expect::{holds, same};
use crate::machine::Machine;
use crate::process::{Process, times};
use crate::stage::Stage;
use crate::trouble::Trouble;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let machine = stage.machine()?;
    let process = machine.process()?;
    process.context(0)?;
    let granule = process.granule()?;
    let before = process.free_memory()?;
    for retained in 1..=6 {
        let size = times(granule, random.u64(1..=8));
        let handle = retain_and_unmap(&process, size, retained)?;
        for left in (1..=retained).rev() {
            process.mem_release(handle)?;
            let charged = before.get() - process.free_memory()?.get();
            same("what is charged while a reference is left", charged, size.get())?;
            is_told(&machine, size, left)?;
        }
        process.mem_release(handle)?;
        same("free memory after the last release", process.free_memory()?, before)?;
    }
    Ok(())
}

/// Memory that was mapped and retained so often, and is unmapped.
fn retain_and_unmap(process: &Process, size: ByteSize, times: usize) -> Result<MemHandle, Trouble> {
    let mapped = process.mapped(size)?;
    for _ in 0..times {
        same("what retaining gives", process.mem_retain_allocation_handle(mapped.ptr)?, mapped.handle)?;
    }
    process.mem_unmap(mapped.ptr, mapped.size)?;
    process.mem_address_free(mapped.ptr, mapped.size)?;
    Ok(mapped.handle)
}

/// The simulator must say that a handle keeps the memory, and who made it.
fn is_told(machine: &Machine<'_>, size: ByteSize, left: usize) -> Result<(), Trouble> {
    let Some(holders) = machine.holders()? else { return Ok(()) };
    let told = holders.0.iter().any(|line| {
        let by_handle = line.processes.iter().any(|(_, holding)| *holding == Holding::Handle);
        line.size == size && line.made_by.call == Call::cuMemCreate && by_handle
    });
    holds("the list of holders names what is leaked", told, (left, holders))
}
