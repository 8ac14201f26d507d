//! E9: rights for the freshly mapped tail of a reservation were refused by another stack, depending on what lay before it.
//!
//! However a range is cut: each tail gets its rights as it comes, every range of whole mappings gets them again, a range that cuts a
//! mapping in two is refused, and so is one that ends where nothing is mapped.

use peermap_driver::{AccessFlags, ByteSize, Call, DevicePtr, Location};
use peermap_model::rules;

use super::b5::chunks_of;
use crate::expect::{refused, same};
use crate::process::{Process, behind, times};
use crate::stage::Stage;
use crate::trouble::Trouble;

/// How many granules are mapped, and how many are reserved.
const MAPPED: u64 = 7;
const RESERVED: u64 = 8;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let process = stage.machine()?.process()?;
    process.context(0)?;
    let granule = process.granule()?;
    for _ in 0..6 {
        let range = process.reserve(times(granule, RESERVED))?;
        let borders = grow(&process, range, &chunks_of(MAPPED, granule, &mut random))?;
        let pick = |random: &mut fastrand::Rng| borders[random.usize(0..borders.len())];
        for _ in 0..8 {
            let (one, other) = (pick(&mut random), pick(&mut random));
            ask(&process, range, one.min(other), one.max(other), true)?;
            let anywhere = times(granule, random.u64(0..=MAPPED)).get();
            ask(&process, range, anywhere, pick(&mut random), borders.contains(&anywhere))?;
        }
        let over = process.grant(range, times(granule, RESERVED), 0);
        refused("cuMemSetAccess over the end of what is mapped", over, &rules::ACCESS_4)?;
        process.mem_unmap(range, times(granule, MAPPED))?;
        process.mem_address_free(range, times(granule, RESERVED))?;
    }
    process.reported_nothing()
}

/// Maps chunk after chunk, each with its rights at once; gives the borders.
fn grow(process: &Process, range: DevicePtr, chunks: &[ByteSize]) -> Result<Vec<u64>, Trouble> {
    let mut borders = vec![0];
    let mut reached = 0;
    for size in chunks {
        let ptr = behind(range, reached);
        let handle = process.create(*size)?;
        process.map(ptr, *size, handle)?;
        process.mem_release(handle)?;
        same("the rights of a fresh mapping", process.mem_get_access(ptr, Location::device(0))?, AccessFlags::NONE)?;
        process.grant(ptr, *size, 0)?;
        reached += size.get();
        borders.push(reached);
        same("the rights on the tail", process.mem_get_access(ptr, Location::device(0))?, AccessFlags::READWRITE)?;
    }
    Ok(borders)
}

/// Rights on a range between two offsets: given if it consists of whole mappings.
fn ask(process: &Process, range: DevicePtr, from: u64, to: u64, whole: bool) -> Result<(), Trouble> {
    if from >= to {
        return Ok(());
    }
    let answer = process.grant(behind(range, from), ByteSize::new(to - from), 0);
    match whole {
        true => Ok(answer?),
        false => refused("cuMemSetAccess through a mapping", answer, &rules::ACCESS_5)?.naming(Call::cuMemMap),
    }
}
