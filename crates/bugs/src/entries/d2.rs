//! D2: readers took the release right after the mapping for a bug.
//!
//! In random orders of map, unmap, retain and release, memory is charged exactly while a mapping or a reference is left, and what is
//! mapped can be used, whoever has released what.

use peermap_driver::{ByteSize, DevicePtr, MemHandle};

use crate::expect::same;
use crate::process::{Process, times};
use crate::stage::Stage;
use crate::trouble::Trouble;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let process = stage.machine()?.process()?;
    process.context(0)?;
    let granule = process.granule()?;
    for _ in 0..12 {
        let size = times(granule, random.u64(1..=4));
        live_and_die(&process, size, &mut random)?;
    }
    Ok(())
}

/// An allocation as the rule of references has it.
struct Allocation {
    handle: MemHandle,
    size: ByteSize,
    references: u32,
    mappings: Vec<DevicePtr>,
}

fn live_and_die(process: &Process, size: ByteSize, random: &mut fastrand::Rng) -> Result<(), Trouble> {
    let before = process.free_memory()?;
    let mut it = Allocation { handle: process.create(size)?, size, references: 1, mappings: Vec::new() };
    while it.references > 0 || !it.mappings.is_empty() {
        step(process, &mut it, random)?;
        let alive = it.references > 0 || !it.mappings.is_empty();
        let charged = if alive { size.get() } else { 0 };
        same("what is charged", before.get() - process.free_memory()?.get(), charged)?;
    }
    Ok(())
}

fn step(process: &Process, it: &mut Allocation, random: &mut fastrand::Rng) -> Result<(), Trouble> {
    let mapped = it.mappings.last().copied();
    match (random.u8(0..5), mapped) {
        (0, _) if it.references > 0 => {
            it.mappings.push(process.mapped_of(it.handle, it.size)?.ptr);
        }
        (1, Some(ptr)) => {
            same("what retaining gives", process.mem_retain_allocation_handle(ptr)?, it.handle)?;
            it.references += 1;
        }
        (2, Some(ptr)) => {
            process.memset_d8(ptr, 7, it.size)?;
            process.ctx_synchronize()?;
            same("what was written", process.read(ptr, 16)?, vec![7; 16])?;
        }
        (3, Some(ptr)) => {
            process.mem_unmap(ptr, it.size)?;
            process.mem_address_free(ptr, it.size)?;
            it.mappings.pop();
        }
        _ if it.references > 0 => {
            process.mem_release(it.handle)?;
            it.references -= 1;
        }
        _ => {}
    }
    Ok(())
}
