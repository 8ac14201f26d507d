//! G1: memory was rounded to the granularity of allocations, and could not be bound to a multicast object.
//!
//! For any size: what is no multiple of the team's own granularity is refused, what was rounded up to it is bound; a mapping of the team
//! needs addresses and sizes of it too.

use peermap_driver::{ByteSize, Device, DevicePtr, GranularityOption, HandleType, MemHandle, MulticastObjectProp};
use peermap_model::{Profile, rules};

use crate::expect::{differ, refused};
use crate::process::{Process, behind, times};
use crate::stage::{OPTIONS, Stage};
use crate::trouble::Trouble;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let process = stage.simulating(Profile::named("wide-teams")?, OPTIONS)?.process()?;
    let any = MulticastObjectProp::team_of(1, ByteSize::ZERO, HandleType::POSIX_FILE_DESCRIPTOR);
    let of_memory = process.granule()?;
    let of_teams = process.multicast_get_granularity(&any, GranularityOption::MINIMUM)?;
    differ("the granularities", of_memory, of_teams)?;
    for _ in 0..8 {
        let size = times(of_memory, random.u64(1..16));
        let rounded = ByteSize::new(size.get().next_multiple_of(of_teams.get()));
        let team = process.multicast_create(&MulticastObjectProp { size: rounded, ..any })?;
        process.multicast_add_device(team, Device(0))?;
        if size != rounded {
            let answer = bind(&process, team, size, size);
            refused("cuMulticastBindMem of a size between two granules", answer, &rules::MULTICAST_14)?;
        }
        bind(&process, team, rounded, rounded)?;
        map(&process, team, rounded, of_memory)?;
        process.mem_release(team)?;
    }
    Ok(())
}

/// Binds so much of memory of some size.
fn bind(process: &Process, team: MemHandle, memory: ByteSize, size: ByteSize) -> peermap_driver::Result<()> {
    let handle = process.create(memory)?;
    let bound = process.multicast_bind_mem(team, ByteSize::ZERO, handle, ByteSize::ZERO, size, 0);
    process.mem_release(handle)?;
    bound
}

/// A mapping of the team lies at multiples of its granularity, and not of that of memory.
fn map(process: &Process, team: MemHandle, size: ByteSize, of_memory: ByteSize) -> Result<(), Trouble> {
    let room = times(size, 2);
    let range = process.mem_address_reserve(room, alignment_of(size), DevicePtr::NULL, 0)?;
    let beside = process.map(behind(range, of_memory.get()), size, team);
    refused("cuMemMap of a team between two of its granules", beside, &rules::MAP_10)?;
    process.map(range, size, team)?;
    process.grant(range, size, 0)?;
    process.mem_unmap(range, size)?;
    Ok(process.mem_address_free(range, room)?)
}

/// The largest power of two that divides a size: an alignment for it.
const fn alignment_of(size: ByteSize) -> ByteSize {
    ByteSize::new(1 << size.get().trailing_zeros())
}
