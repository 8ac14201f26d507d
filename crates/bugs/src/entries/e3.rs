//! E3: a mapping failed half-way, and one unmap over all slots ended the process.
//!
//! Measured, an unmap over a hole succeeds and takes away what is there. Other stacks refuse it, so the simulator answers as measured
//! and reports it, with the hole and the call that reserved the addresses. For every number of slots and every slot that fails.

use peermap_driver::{ByteSize, Call, DevicePtr};
use peermap_model::rules;

use crate::expect::{refused, same};
use crate::process::{Process, behind, times};
use crate::stage::Stage;
use crate::trouble::Trouble;

/// The most slots of a range.
const MOST_SLOTS: u64 = 6;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let process = stage.machine()?.process()?;
    process.context(0)?;
    let granule = process.granule()?;
    let before = process.free_memory()?;
    let mut holes = 0;
    for slots in 2..=MOST_SLOTS {
        for failing in 1..slots {
            let range = process.reserve(times(granule, slots))?;
            fill_until(&process, range, granule, failing)?;
            // Over several whole mappings, as far as they go, it is nobody's mistake.
            let mapped = random.u64(failing.min(2)..=failing);
            process.mem_unmap(range, times(granule, mapped))?;
            process.reported(&rules::UNMAP_4, holes, Call::cuMemAddressReserve)?;
            process.mem_unmap(range, times(granule, slots))?;
            holes += 1;
            process.reported(&rules::UNMAP_4, holes, Call::cuMemAddressReserve)?;
            for slot in 0..slots {
                let ptr = behind(range, slot * granule.get());
                let answer = process.mem_retain_allocation_handle(ptr);
                refused("cuMemRetainAllocationHandle where it was unmapped", answer, &rules::RETAIN_1)?;
            }
            process.mem_address_free(range, times(granule, slots))?;
            same("free memory at the end", process.free_memory()?, before)?;
        }
    }
    Ok(())
}

/// Maps slots until one fails: its memory is larger than the slot.
fn fill_until(process: &Process, range: DevicePtr, granule: ByteSize, failing: u64) -> Result<(), Trouble> {
    for slot in 0..failing {
        let handle = process.create(granule)?;
        process.map(behind(range, slot * granule.get()), granule, handle)?;
        process.mem_release(handle)?;
    }
    let too_large = process.create(times(granule, 2))?;
    let answer = process.map(behind(range, failing * granule.get()), granule, too_large);
    refused("cuMemMap of memory that is larger than its slot", answer, &rules::MAP_5)?;
    Ok(process.mem_release(too_large)?)
}
