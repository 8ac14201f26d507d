//! The worker's story.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use peermap_driver::{AccessFlags, Device, Driver, Uuid};
use peermap_ipc::Member;
use peermap_report::{Mismatch, Try};
use serde::{Deserialize, Serialize};

use super::seat::{Seat, seat_of, watched_by};
use super::trial::{Mapped, Trial};
use super::{Deed, Right};
use crate::content::Author;
use crate::devices::find_device;
use crate::messages::{Done, Step};
use crate::post::Delivery;
use crate::task;
use crate::worker::{Station, WorkerError};
use crate::workplace::Workplace;

/// What a worker of this scenario is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) work: task::Task,
    /// The devices that take part.
    pub(crate) devices: Vec<Uuid>,
}

/// The steps after which all wait for all.
const FILLED: Step = Step::Barrier(0);
const TRIED: Step = Step::Barrier(1);

/// Does the work of one worker. The parent delivers the descriptors of all buffers, in their order.
pub(crate) fn work(
    station: &mut Station<'_>,
    mut member: Member,
    delivery: Delivery<'_>,
    task: &Task,
) -> Result<Done, WorkerError> {
    let workplace = Workplace::set_up(station, &task.work)?;
    let others = other_devices(station, task)?;
    let descriptors = delivery.receive()?.descriptors;
    station.begin(Step::Import)?;
    let mapped = station.phase("map", |station| map(station.driver, &descriptors, station.worker, task))?;
    let (device, verify_on) = (station.device, task.work.verify_on);
    let trial =
        Trial { workplace: &workplace, mapped, device, others: &others, verify_on, author: filled_by(station.worker) };
    let mut found = Found::default();
    match seat_of(station.worker, station.workers) {
        Seat::Fault(right, deed) => {
            fault(station, &mut member, trial, right, deed, &mut found)?;
            station.phase("teardown", |_| Ok(workplace.abandon()?))?;
        }
        Seat::Witness => {
            let watched = station.phase("map", |station| {
                let watched = watched_by(station.worker, station.workers);
                map_watched(station.driver, &descriptors, watched, task)
            })?;
            witness(station, &mut member, trial, &watched, &mut found)?;
            station.phase("teardown", |_| {
                watched.into_iter().try_for_each(|(_, mapped)| mapped.give_back())?;
                Ok(workplace.clear_away()?)
            })?;
        }
    }
    let Found { tries, verified, mismatch } = found;
    let phases = std::mem::take(&mut station.phases);
    Ok(Done { phases, verified, mismatch, tries, ..Done::default() })
}

/// What a worker found.
#[derive(Default)]
struct Found {
    tries: Vec<Try>,
    verified: u64,
    mismatch: Option<Mismatch>,
}

/// Who fills the buffer of a worker before the tries: whoever does it does it in the worker's name.
const fn filled_by(worker: u32) -> Author {
    Author { worker, step: 0 }
}

/// Makes the only try of a worker. Its context is of no use afterwards.
fn fault(
    station: &mut Station<'_>,
    member: &mut Member,
    mut trial: Trial<'_, '_>,
    right: Right,
    deed: Deed,
    found: &mut Found,
) -> Result<(), WorkerError> {
    station.meet(member, FILLED)?;
    station.phase("try", |station| try_all(station, &mut trial, right, &[deed], found))?;
    station.meet(member, TRIED)?;
    station.begin(Step::Teardown)?;
    Ok(trial.mapped.give_back()?)
}

/// Fills what the others will try, makes the tries that end without a fault, and verifies what the others tried.
fn witness(
    station: &mut Station<'_>,
    member: &mut Member,
    mut trial: Trial<'_, '_>,
    watched: &[(u32, Mapped<'_>)],
    found: &mut Found,
) -> Result<(), WorkerError> {
    let worker = station.worker;
    let Workplace { kernels, stream, .. } = trial.workplace;
    station.begin(Step::Fill(0))?;
    let own = std::iter::once((worker, &trial.mapped));
    for (number, mapped) in own.chain(watched.iter().map(|(number, mapped)| (*number, mapped))) {
        mapped.grant(station.device, AccessFlags::READWRITE)?;
        kernels.fill(mapped.buffer, filled_by(number))?;
    }
    station.driver.stream_synchronize(*stream)?;
    station.meet(member, FILLED)?;

    station.phase("try", |station| {
        Right::ALL.into_iter().try_for_each(|right| {
            let deeds: Vec<Deed> = Deed::ALL.into_iter().filter(|deed| !deed.must_fault(right)).collect();
            try_all(station, &mut trial, right, &deeds, found)
        })
    })?;
    station.meet(member, TRIED)?;

    station.phase("verify", |station| {
        for (number, Mapped { buffer, .. }) in watched {
            station.begin(Step::Verify(*number))?;
            match trial.verify_on.look(station.driver, kernels, *buffer, filled_by(*number))? {
                None => found.verified += buffer.size.get(),
                Some(difference) => found.mismatch = found.mismatch.or(Some(difference.seen_by(worker, *number))),
            }
        }
        Ok(())
    })?;
    station.begin(Step::Teardown)?;
    Ok(trial.mapped.give_back()?)
}

/// Tries deeds with a right, up to the first that finds wrong bytes.
fn try_all(
    station: &mut Station<'_>,
    trial: &mut Trial<'_, '_>,
    right: Right,
    deeds: &[Deed],
    found: &mut Found,
) -> Result<(), WorkerError> {
    let worker = station.worker;
    station.begin(Step::Grant(right))?;
    let mut difference = trial.establish(right)?;
    for deed in deeds {
        if difference.is_some() {
            break;
        }
        station.begin(Step::Try(right, *deed))?;
        match trial.attempt(right, *deed)? {
            Ok(tried) => found.tries.push(tried),
            Err(wrong) => difference = Some(wrong),
        }
    }
    found.mismatch = found.mismatch.or(difference.map(|difference| difference.seen_by(worker, worker)));
    Ok(())
}

/// The devices that take part, this worker's apart.
fn other_devices(station: &Station<'_>, task: &Task) -> Result<Vec<Device>, WorkerError> {
    let find = |uuid: &Uuid| find_device(station.driver, *uuid)?.ok_or(WorkerError::NoDevice { uuid: *uuid });
    let mut devices = task.devices.iter().map(find).collect::<Result<Vec<_>, WorkerError>>()?;
    devices.retain(|device| *device != station.device);
    Ok(devices)
}

/// Maps the buffer of a worker.
fn map<'d>(
    driver: &'d dyn Driver,
    descriptors: &'d [OwnedFd],
    worker: u32,
    task: &Task,
) -> Result<Mapped<'d>, WorkerError> {
    let descriptor: BorrowedFd<'d> = descriptors.get(worker as usize).ok_or(WorkerError::NoHandles)?.as_fd();
    Ok(Mapped::new(driver, descriptor, task.work.size)?)
}

/// Maps the buffers of the other workers of a witness's device.
fn map_watched<'d>(
    driver: &'d dyn Driver,
    descriptors: &'d [OwnedFd],
    watched: impl Iterator<Item = u32>,
    task: &Task,
) -> Result<Vec<(u32, Mapped<'d>)>, WorkerError> {
    watched.map(|worker| Ok((worker, map(driver, descriptors, worker, task)?))).collect()
}
