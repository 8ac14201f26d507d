//! B5: a buffer of many chunks was registered by the range of its first address, which is one chunk.
//!
//! However a buffer is cut into chunks, the range at an address is that of its chunk; the chunks one behind the other are the
//! buffer, and work goes over their borders.

use peermap_driver::{ByteSize, DevicePtr};

use crate::expect::same;
use crate::process::{Process, behind, times};
use crate::stage::Stage;
use crate::trouble::Trouble;

/// How many granules a buffer has.
const GRANULES: u64 = 8;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let process = stage.machine()?.process()?;
    process.context(0)?;
    let granule = process.granule()?;
    for _ in 0..6 {
        let chunks = chunks_of(GRANULES, granule, &mut random);
        buffer_of(&process, &chunks, &mut random)?;
    }
    Ok(())
}

/// A random way to cut so many granules into chunks.
pub(super) fn chunks_of(mut granules: u64, granule: ByteSize, random: &mut fastrand::Rng) -> Vec<ByteSize> {
    let mut chunks = Vec::new();
    while granules > 0 {
        let taken = random.u64(1..=granules);
        chunks.push(times(granule, taken));
        granules -= taken;
    }
    chunks
}

fn buffer_of(process: &Process, chunks: &[ByteSize], random: &mut fastrand::Rng) -> Result<(), Trouble> {
    let whole = ByteSize::new(chunks.iter().map(|chunk| chunk.get()).sum());
    let buffer = process.reserve(whole)?;
    let mut mapped = Vec::new();
    for chunk in chunks {
        let start = behind(buffer, mapped.iter().map(|(_, size, _): &(DevicePtr, ByteSize, _)| size.get()).sum());
        let handle = process.create(*chunk)?;
        process.map(start, *chunk, handle)?;
        mapped.push((start, *chunk, handle));
    }
    process.grant(buffer, whole, 0)?;
    for (start, size, _) in &mapped {
        let inside = behind(*start, random.u64(0..size.get()));
        same("the range at an address", process.mem_get_address_range(inside)?, (*start, *size))?;
    }
    same("the chunks that a walk over the buffer finds", walk(process, buffer, whole)?, chunks.to_vec())?;
    process.memset_d8(buffer, 0x5a, whole)?;
    process.ctx_synchronize()?;
    for (start, size, handle) in mapped {
        same("the last byte of a chunk", process.read(behind(start, size.get() - 1), 1)?, vec![0x5a])?;
        process.mem_release(handle)?;
    }
    process.mem_unmap(buffer, whole)?;
    Ok(process.mem_address_free(buffer, whole)?)
}

/// What an exporter does that sends all of a buffer.
fn walk(process: &Process, buffer: DevicePtr, whole: ByteSize) -> Result<Vec<ByteSize>, Trouble> {
    let (mut chunks, mut reached) = (Vec::new(), 0);
    while reached < whole.get() {
        let (_, size) = process.mem_get_address_range(behind(buffer, reached))?;
        chunks.push(size);
        reached += size.get();
    }
    Ok(chunks)
}
