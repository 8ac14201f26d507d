//! E13: an unmap overtook work that was still queued.
//!
//! In random schedules of work on several streams and of what takes memory away, the simulator reports each time that no synchronisation
//! had seen the work through, with the call that queued it, whether or not the work had run by luck; and never otherwise. Work that
//! has not run faults. `cuMemFree` waits. On hardware a gibibyte is in flight, so that the outcome is certain.

use peermap_driver::{AccessDesc, AccessFlags, ByteSize, Call, Context, DevicePtr, Event, Location, Stream};
use peermap_model::{Grace, Profile, rules};
use peermap_scenario::Buffer;
use peermap_sim::MachineOptions;

use crate::expect::{refused, same};
use crate::process::{Mapped, Process, fill};
use crate::stage::{OPTIONS, Stage};
use crate::trouble::Trouble;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    if stage.is_real() {
        return overtake(stage);
    }
    let mut random = stage.random();
    for round in 0..60 {
        // Work that waits for nobody runs after so many further calls: here by luck before the memory goes, or never.
        let grace = if round % 2 == 0 { Grace::Never } else { Grace::Calls(0) };
        let machine = stage.simulating(Profile::named("h200-x2")?, MachineOptions { grace, ..OPTIONS })?;
        schedule(&machine.process()?, &mut random, grace == Grace::Never)?;
    }
    Ok(())
}

/// How a program waits for its work, or believes that it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// Not at all.
    Not,
    /// For the null stream of the context of another device.
    ForAnother,
    /// For the stream.
    ForStream,
    /// For an event behind the work.
    ForEvent,
    /// For the context.
    ForContext,
    /// By asking until the stream has nothing left.
    ByAsking,
}

const WAYS: [Waits; 6] =
    [Waits::Not, Waits::ForAnother, Waits::ForStream, Waits::ForEvent, Waits::ForContext, Waits::ByAsking];

fn schedule(process: &Process, random: &mut fastrand::Rng, never_runs: bool) -> Result<(), Trouble> {
    let (other, context) = (process.context(1)?, process.context(0)?);
    let streams = [process.stream_create(1)?, process.stream_create(1)?];
    let size = process.granule()?;
    let memory = process.mapped(size)?;
    let beside = process.mapped(size)?;
    let stream = streams[random.usize(0..2)];
    let event = process.event_create(0)?;
    let queued = queue(process, random, memory.ptr, beside.ptr, size, stream)?;
    process.event_record(event, stream)?;
    // By asking nothing ends that never runs.
    let ways = if never_runs { &WAYS[..5] } else { &WAYS[..] };
    let waits = ways[random.usize(0..ways.len())];
    wait(process, waits, (other, context), stream, event)?;
    let seen = !matches!(waits, Waits::Not | Waits::ForAnother);
    let rule = if random.bool() {
        process.mem_unmap(memory.ptr, size)?;
        &rules::UNMAP_5
    } else {
        process.mem_set_access(memory.ptr, size, &[forbidden()])?;
        &rules::ACCESS_8
    };
    process.reported(rule, usize::from(!seen), queued)?;
    let end = process.stream_synchronize(stream);
    if seen || !never_runs {
        return Ok(end?);
    }
    refused("the wait for work whose memory has gone", end, &rules::FAULT_1)?;
    Ok(())
}

fn forbidden() -> AccessDesc {
    AccessDesc { location: Location::device(0), flags: AccessFlags::NONE }
}

/// Queues work that uses the memory; gives the call.
fn queue(
    process: &Process,
    random: &mut fastrand::Rng,
    memory: DevicePtr,
    beside: DevicePtr,
    size: ByteSize,
    stream: Stream,
) -> Result<Call, Trouble> {
    match random.u8(0..4) {
        0 => process.memset_d8_async(memory, 1, size, stream).map(|()| Call::cuMemsetD8Async),
        1 => process.memcpy_dtod_async(memory, beside, size, stream).map(|()| Call::cuMemcpyDtoDAsync),
        2 => process.memcpy_dtod_async(beside, memory, size, stream).map(|()| Call::cuMemcpyDtoDAsync),
        _ => fill(process, 0, Buffer { ptr: memory, size }, stream).map(|()| Call::cuLaunchKernel),
    }
    .map_err(Trouble::from)
}

fn wait(
    process: &Process,
    waits: Waits,
    (other, context): (Context, Context),
    stream: Stream,
    event: Event,
) -> Result<(), Trouble> {
    match waits {
        Waits::Not => {}
        Waits::ForAnother => {
            process.ctx_set_current(Some(other))?;
            process.stream_synchronize(Stream::NULL)?;
            process.ctx_set_current(Some(context))?;
        }
        Waits::ForStream => process.stream_synchronize(stream)?,
        Waits::ForEvent => process.event_synchronize(event)?,
        Waits::ForContext => process.ctx_synchronize()?,
        Waits::ByAsking => while process.stream_query(stream).is_err() {},
    }
    Ok(())
}

/// How much is in flight on hardware.
const MUCH: ByteSize = ByteSize::gib(1);

/// What hardware shows: a free waits for work, and an unmap does not.
fn overtake(stage: &Stage) -> Result<(), Trouble> {
    let process = stage.machine()?.process()?;
    process.context(0)?;
    let allocated = process.mem_alloc(MUCH)?;
    process.memset_d8_async(allocated, 1, MUCH, Stream::NULL)?;
    process.mem_free(allocated)?;
    process.ctx_synchronize()?;
    let Mapped { ptr, size, .. } = process.mapped(MUCH)?;
    process.memset_d8_async(ptr, 2, size, Stream::NULL)?;
    process.ctx_synchronize()?;
    same("what was waited for", process.read(ptr, 16)?, vec![2; 16])?;
    process.memset_d8_async(ptr, 3, size, Stream::NULL)?;
    process.mem_unmap(ptr, size)?;
    refused("the wait for work whose memory has gone", process.ctx_synchronize(), &rules::FAULT_1)?;
    Ok(())
}
