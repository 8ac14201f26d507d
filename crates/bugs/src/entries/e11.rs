//! E11: only the device that has the memory got rights; collectives of its peers faulted, or hung.
//!
//! Which devices may use a mapping is each device's own matter, whether or not they are peers. Where a right was given a kernel works,
//! and where it was not the kernel faults, which ends the contexts of the process.

use peermap_driver::{AccessFlags, Call, DriverError, Location, Stream};
use peermap_model::rules;
use peermap_scenario::Buffer;

use crate::expect::{refused, same};
use crate::process::{Mapped, Process, fill, times};
use crate::stage::Stage;
use crate::trouble::Trouble;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let process = stage.machine()?.process()?;
    process.needs_two_devices()?;
    let mut random = stage.random();
    let owner = process.context(0)?;
    let peer = process.context(1)?;
    process.ctx_enable_peer_access(owner, 0)?;
    let granule = process.granule()?;
    let memories: Vec<Mapped> =
        (0..6).map(|_| process.mapped(times(granule, random.u64(1..=2)))).collect::<Result<_, _>>()?;
    for memory in &memories {
        same("the peer's right before", right(&process, *memory)?, AccessFlags::NONE)?;
    }
    let (forgotten, granted) = memories.split_at(1);
    for memory in granted {
        process.grant(memory.ptr, memory.size, 1)?;
        same("the peer's right after", right(&process, *memory)?, AccessFlags::READWRITE)?;
        fill(&process, 1, of(*memory), Stream::NULL)?;
        process.ctx_synchronize()?;
    }
    process.ctx_set_current(Some(peer))?;
    // Last of all: nothing of this process works on a device after it.
    for memory in forgotten {
        fill(&process, 1, of(*memory), Stream::NULL)?;
        let seen = process.ctx_synchronize();
        refused("the wait for a kernel of the peer without a right", seen, &rules::FAULT_1)?.naming(Call::cuMemMap)?;
    }
    Ok(())
}

const fn of(memory: Mapped) -> Buffer {
    Buffer { ptr: memory.ptr, size: memory.size }
}

fn right(process: &Process, memory: Mapped) -> Result<AccessFlags, DriverError> {
    process.mem_get_access(memory.ptr, Location::device(1))
}
