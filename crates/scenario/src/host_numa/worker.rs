//! The worker's story.

use std::os::fd::{AsFd, OwnedFd};

use peermap_driver::{AccessFlags, ByteSize, OsHandle};
use peermap_ipc::Member;
use peermap_report::{Mismatch, Try};

use super::Act;
use super::share::Share;
use super::unshared::Unshared;
use crate::content::Author;
use crate::messages::{Done, Step};
use crate::post::Delivery;
use crate::ring::Memory;
use crate::row::Row;
use crate::task::Task;
use crate::worker::{Station, WorkerError};
use crate::workplace::Workplace;

const NONE: AccessFlags = AccessFlags::NONE;
const READ: AccessFlags = AccessFlags::READ;
const BOTH: AccessFlags = AccessFlags::READWRITE;

/// What is tried with rights that are apart: acts in a row, each with whether it is permitted. Whoever reads finds what was
/// written last.
struct Trial {
    name: &'static str,
    device: AccessFlags,
    host: AccessFlags,
    acts: &'static [(Act, bool)],
}

/// Before the others use the buffer.
const TRIALS: [Trial; 3] = [
    Trial {
        name: "device alone",
        device: BOTH,
        host: NONE,
        acts: &[(Act::KernelWrite, true), (Act::KernelRead, true), (Act::CpuWrite, false), (Act::CpuRead, false)],
    },
    Trial {
        name: "device, host reads",
        device: BOTH,
        host: READ,
        acts: &[(Act::KernelWrite, true), (Act::KernelRead, true), (Act::CpuWrite, false), (Act::CpuRead, true)],
    },
    Trial {
        name: "both",
        device: BOTH,
        host: BOTH,
        acts: &[(Act::KernelWrite, true), (Act::CpuRead, true), (Act::CpuWrite, true), (Act::KernelRead, true)],
    },
];

/// With memory that names no node.
const UNSHARED: Trial = Trial {
    name: "both, of no node",
    device: BOTH,
    host: BOTH,
    acts: &[(Act::CpuWrite, true), (Act::KernelRead, true), (Act::KernelWrite, true), (Act::CpuRead, true)],
};

/// After the others have used it: the fault ends what the device can do for this process.
const LAST: Trial = Trial {
    name: "host alone",
    device: NONE,
    host: BOTH,
    acts: &[(Act::CpuWrite, true), (Act::KernelWrite, false), (Act::CpuRead, true)],
};

/// What a worker found.
#[derive(Default)]
struct Found {
    tries: Vec<Try>,
    /// Bytes found right of what another worker or another part of this one had written.
    verified: u64,
    mismatch: Option<Mismatch>,
    /// How often the own buffer was written in trials.
    writes: u32,
}

/// Imports and maps every buffer, and lets nobody in.
fn map_all(station: &mut Station<'_>, size: ByteSize, descriptors: Vec<OwnedFd>) -> Result<Row, WorkerError> {
    let row = Row::reserve(station, size, size)?;
    station.begin(Step::Import)?;
    for (number, descriptor) in (0..).zip(&descriptors) {
        row.import(station.driver, number, OsHandle::Fd(descriptor.as_fd()))?;
    }
    Ok(row)
}

/// Does the work of one worker. The parent delivers the descriptors of all buffers, in their order.
pub(crate) fn work(
    station: &mut Station<'_>,
    mut member: Member,
    delivery: Delivery<'_>,
    task: &Task,
) -> Result<Done, WorkerError> {
    let workplace = Workplace::set_up(station, task)?;
    let descriptors = delivery.receive()?.descriptors;
    let row = station.phase("map", |station| map_all(station, task.size, descriptors))?;
    let (driver, device, worker) = (station.driver, station.device, station.worker);
    let neighbour = (worker + 1) % station.workers;
    let share = |number| Share { driver, workplace: &workplace, device, number, buffer: row.buffer(number) };
    let (own, other) = (share(worker), share(neighbour));
    let mut found = Found::default();
    station.phase("try", |station| {
        TRIALS.iter().try_for_each(|trial| try_out(station, &own, trial, &mut found))?;
        let unshared = Unshared::new(driver, task.size)?;
        try_out(station, &Share { buffer: unshared.buffer, ..own }, &UNSHARED, &mut found)?;
        unshared.give_back()?;
        other.grant(BOTH, BOTH)
    })?;

    station.phase("share", |station| {
        together(station, &own, Act::CpuWrite, 0, &mut found)?;
        station.meet(&mut member, Step::Barrier(0))?;
        together(station, &other, Act::KernelRead, 0, &mut found)?;
        together(station, &other, Act::KernelWrite, 1, &mut found)?;
        station.meet(&mut member, Step::Barrier(1))?;
        together(station, &own, Act::CpuRead, 1, &mut found)?;
        station.meet(&mut member, Step::Barrier(2))
    })?;

    station.phase("try", |station| try_out(station, &own, &LAST, &mut found))?;
    station.begin(Step::Teardown)?;
    station.phase("teardown", |_| {
        // The kernel that faulted took with it what belongs to the context.
        workplace.abandon()?;
        Ok(row.give_back(driver)?)
    })?;
    let Found { tries, verified, mismatch, .. } = found;
    let phases = std::mem::take(&mut station.phases);
    Ok(Done { phases, tries, verified, mismatch, ..Done::default() })
}

/// Makes a trial with the own buffer, up to the first wrong byte.
fn try_out(
    station: &mut Station<'_>,
    own: &Share<'_, '_>,
    trial: &Trial,
    found: &mut Found,
) -> Result<(), WorkerError> {
    own.grant(trial.device, trial.host)?;
    for (act, permitted) in trial.acts {
        if found.mismatch.is_some() {
            break;
        }
        station.begin(Step::Host(*act))?;
        // Steps that no other write of the run has: what is not written is not what is looked for.
        let step = |writes| u32::MAX - writes;
        let author = Author { worker: station.worker, step: step(found.writes + u32::from(act.writes())) };
        match own.attempt(trial.name, *act, author, *permitted)? {
            Ok(tried) => found.tries.push(tried),
            Err(wrong) => found.mismatch = Some(wrong.seen_by(station.worker, own.number)),
        }
        found.writes += u32::from(act.writes() && *permitted);
    }
    Ok(())
}

/// Writes a buffer in the name of its worker, or verifies what was so written.
fn together(
    station: &mut Station<'_>,
    share: &Share<'_, '_>,
    act: Act,
    step: u32,
    found: &mut Found,
) -> Result<(), WorkerError> {
    station.begin(Step::Host(act))?;
    let difference = share.act(act, Author { worker: share.number, step })?;
    found.mismatch = found.mismatch.or(difference.map(|wrong| wrong.seen_by(station.worker, share.number)));
    if difference.is_none() && !act.writes() {
        found.verified += share.buffer.size.get();
    }
    Ok(())
}
