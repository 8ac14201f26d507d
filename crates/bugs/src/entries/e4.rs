//! E4: a pool wanted to return the tail of a chunk, as munmap would.
//!
//! Whatever part of a mapping is named, at its front, in its middle, at its end or over its end: the call is refused, names the call that
//! mapped, and leaves every byte where it was. All of it at once goes.

use peermap_driver::{ByteSize, Call};
use peermap_model::rules;

use crate::expect::{refused, same};
use crate::process::{Mapped, Process, behind, times};
use crate::stage::Stage;
use crate::trouble::Trouble;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let process = stage.machine()?.process()?;
    process.context(0)?;
    let granule = process.granule()?;
    for granules in 2..=5 {
        let mapped = process.mapped(times(granule, granules))?;
        process.memset_d8(mapped.ptr, 0xe4, mapped.size)?;
        process.ctx_synchronize()?;
        for _ in 0..8 {
            let from = random.u64(0..granules);
            let to = random.u64(from + 1..=granules + u64::from(from > 0));
            if (from, to) != (0, granules) {
                part(&process, mapped, times(granule, from), times(granule, to - from))?;
            }
        }
        let odd = ByteSize::new(random.u64(1..mapped.size.get()));
        part(&process, mapped, ByteSize::ZERO, odd)?;
        process.give_back(mapped)?;
    }
    process.reported_nothing()
}

fn part(process: &Process, mapped: Mapped, from: ByteSize, size: ByteSize) -> Result<(), Trouble> {
    let answer = process.mem_unmap(behind(mapped.ptr, from.get()), size);
    refused("cuMemUnmap of a part of a mapping", answer, &rules::UNMAP_3)?.naming(Call::cuMemMap)?;
    let last = behind(mapped.ptr, mapped.size.get() - 16);
    same("the first bytes", process.read(mapped.ptr, 16)?, vec![0xe4; 16])?;
    same("the last bytes", process.read(last, 16)?, vec![0xe4; 16])
}
