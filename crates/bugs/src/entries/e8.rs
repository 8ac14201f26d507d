//! E8: memory ran out in the middle of a wake-up, and what was mapped by then was never returned.
//!
//! For every place at which memory runs out: the creation says so, a roll-back gives all of it back, and the next try succeeds.

use peermap_driver::{ByteSize, DevicePtr, DriverError};
use peermap_model::rules;

use crate::expect::{refused, same};
use crate::process::{Mapped, Process, times};
use crate::stage::Stage;
use crate::trouble::Trouble;

/// How many ranges sleep.
const RANGES: usize = 6;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let process = stage.machine()?.process()?;
    process.context(0)?;
    let granule = process.granule()?;
    let before = process.free_memory()?;
    let more_than_free = times(granule, before.get() / granule.get() + 1);
    for failing in 0..RANGES {
        let mut sizes: Vec<ByteSize> = (0..RANGES).map(|_| times(granule, random.u64(1..=4))).collect();
        let reserved = sizes.iter().map(|size| process.reserve(*size)).collect::<Result<Vec<_>, _>>()?;
        let fits = std::mem::replace(&mut sizes[failing], more_than_free);
        let woken = wake(&process, &reserved, &sizes);
        refused("cuMemCreate of more than is free", woken, &rules::CREATE_10)?;
        same("free memory after the roll-back", process.free_memory()?, before)?;
        sizes[failing] = fits;
        let all = wake(&process, &reserved, &sizes)?;
        same("ranges that woke at the second try", all.len(), RANGES)?;
        all.into_iter().try_for_each(|mapped| process.give_back(mapped))?;
        same("free memory at the end", process.free_memory()?, before)?;
    }
    Ok(())
}

/// Maps memory in all ranges, or in none.
fn wake(process: &Process, reserved: &[DevicePtr], sizes: &[ByteSize]) -> Result<Vec<Mapped>, DriverError> {
    let mut woken: Vec<Mapped> = Vec::new();
    for (ptr, size) in reserved.iter().zip(sizes) {
        let handle = match process.create(*size) {
            Ok(handle) => handle,
            Err(error) => {
                for Mapped { handle, ptr, size } in woken {
                    process.mem_unmap(ptr, size)?;
                    process.mem_release(handle)?;
                }
                return Err(error);
            }
        };
        process.map(*ptr, *size, handle)?;
        process.grant(*ptr, *size, 0)?;
        woken.push(Mapped { handle, ptr: *ptr, size: *size });
    }
    Ok(woken)
}
