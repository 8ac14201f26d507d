//! The worker's story.

use peermap_driver::{ByteSize, DevicePtr, HandleType, MemHandle, Uuid};
use peermap_ipc::Member;
use peermap_report::Mismatch;
use serde::{Deserialize, Serialize};

use super::kernels::TeamKernels;
use super::object::room;
use super::rank::Rank;
use super::values::part_of;
use crate::check::Difference;
use crate::device_kernels::Buffer;
use crate::devices::find_device;
use crate::kernels::MULTICAST;
use crate::messages::{Done, Step};
use crate::post::Delivery;
use crate::task;
use crate::worker::{Station, WorkerError};
use crate::workplace::Workplace;

/// What a worker of this scenario is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) work: task::Task,
    /// The devices of the team, by rank.
    pub(crate) devices: Vec<Uuid>,
    /// A rank that adds no device, while nobody waits for it.
    pub(crate) absent: Option<u32>,
    /// Whether each device binds more than is used: the next multiple of the team's granularity.
    pub(crate) round_up: bool,
}

/// After so many steps all wait for all.
pub(super) const MEETINGS: u32 = 8;

/// Does the work of one worker. The parent delivers a handle of the multicast object for each worker.
pub(crate) fn work(
    station: &mut Station<'_>,
    member: Member,
    delivery: Delivery<'_>,
    task: &Task,
) -> Result<Done, WorkerError> {
    let mut ranks = set_up(station, task)?;
    let transport = &mut *delivery.receive()?.transport(member, station.workers)?;
    let handles = transport.exchange(None, station.deadline)?;
    let object = handles.get(station.worker as usize).ok_or(WorkerError::NoHandles)?;
    let mut meetings = (0..MEETINGS).map(Step::Barrier);
    let mut meet =
        |station: &mut Station<'_>| meetings.next().map_or(Ok(()), |meeting| station.meet(transport, meeting));

    station.begin(Step::Join)?;
    station.phase("join", |_| {
        each(&mut ranks, |rank| Ok(rank.join(object.as_os_handle(), task.absent == Some(rank.number))?))
    })?;
    drop(handles);
    // Who binds before all have joined waits in the driver, without a deadline.
    if task.absent.is_none() {
        meet(station)?;
    }
    station.begin(Step::Bind)?;
    station.phase("bind", |_| each(&mut ranks, |rank| Ok(rank.bind()?)))?;
    station.begin(Step::Import)?;
    station.phase("map", |_| each(&mut ranks, |rank| Ok(rank.map_team()?)))?;
    meet(station)?;

    let mut found = Found::default();
    station.begin(Step::Fill(0))?;
    station.phase("fill", |_| {
        each(&mut ranks, |rank| Ok(rank.store_part()?))?;
        each(&mut ranks, |rank| Ok(rank.synchronize()?))
    })?;
    meet(station)?;
    station.phase("verify", |station| verify_parts(station, &mut ranks, &mut found))?;
    meet(station)?;

    station.begin(Step::BindAgain)?;
    station.phase("bind", |_| each(&mut ranks, |rank| Ok(rank.bind_again()?)))?;
    station.begin(Step::Fill(1))?;
    station.phase("fill", |_| {
        each(&mut ranks, |rank| Ok(rank.fill_own()?))?;
        each(&mut ranks, |rank| Ok(rank.synchronize()?))
    })?;
    meet(station)?;
    station.begin(Step::Reduce)?;
    station.phase("reduce", |station| add_up(station, &mut ranks, &mut found))?;
    meet(station)?;

    station.begin(Step::Norm)?;
    each(&mut ranks, |rank| Ok(rank.set_norm()?))?;
    meet(station)?;
    station.begin(Step::Norm)?;
    let norm = station.phase("norm", |_| norm(&mut ranks))?;
    meet(station)?;

    station.begin(Step::Teardown)?;
    station.phase("teardown", |_| Ok(ranks.into_iter().try_for_each(Rank::clear_away)?))?;
    let phases = std::mem::take(&mut station.phases);
    let Found { verified, mismatch } = found;
    Ok(Done { phases, verified, mismatch, norm: Some(norm), ..Done::default() })
}

/// The ranks of this worker: one, or all if there is no other worker.
fn set_up<'d>(station: &mut Station<'d>, task: &Task) -> Result<Vec<Rank<'d>>, WorkerError> {
    let (driver, count) = (station.driver, task.devices.len() as u32);
    let numbers = if station.workers == 1 { 0..count } else { station.worker..station.worker + 1 };
    let size = task.work.size;
    let room = if task.round_up { room(driver, station.device, count, size)? } else { size };
    let image = task.work.kernels.of(&MULTICAST).read(&MULTICAST)?;
    let mut ranks = Vec::new();
    for (number, uuid) in (0..).zip(&task.devices).filter(|(number, _)| numbers.contains(number)) {
        let device = find_device(driver, *uuid)?.ok_or(WorkerError::NoDevice { uuid: *uuid })?;
        station.device = device;
        let workplace = Workplace::set_up(station, &task.work)?;
        let kernels = station.phase("module", |_| Ok(TeamKernels::load(driver, workplace.stream, &image)?))?;
        let nowhere = Buffer { ptr: DevicePtr::NULL, size: ByteSize::ZERO };
        ranks.push(Rank {
            driver,
            number,
            ranks: count,
            device,
            workplace,
            kernels,
            verify_on: task.work.verify_on,
            size,
            room,
            team: MemHandle::NULL,
            handle_type: HandleType::NONE,
            memory: MemHandle::NULL,
            own: nowhere,
            through: nowhere,
            sum: nowhere,
        });
    }
    Ok(ranks)
}

/// Does something with each rank, in its context.
fn each<'d>(
    ranks: &mut [Rank<'d>],
    mut act: impl FnMut(&mut Rank<'d>) -> Result<(), WorkerError>,
) -> Result<(), WorkerError> {
    ranks.iter_mut().try_for_each(|rank| {
        rank.enter()?;
        act(rank)
    })
}

/// What was verified.
#[derive(Default)]
struct Found {
    verified: u64,
    mismatch: Option<Mismatch>,
}

impl Found {
    /// Notes what came of a look at so many bytes that a rank should have written.
    fn note(&mut self, worker: u32, rank: u32, bytes: u64, difference: Option<Difference>) {
        match difference {
            None => self.verified += bytes,
            Some(difference) => self.mismatch = self.mismatch.or(Some(difference.seen_by(worker, rank))),
        }
    }
}

/// Verifies what every rank stored through the team, in the copy of each rank of this worker.
fn verify_parts(station: &mut Station<'_>, ranks: &mut [Rank<'_>], found: &mut Found) -> Result<(), WorkerError> {
    let worker = station.worker;
    each(ranks, |rank| {
        (0..rank.ranks).try_for_each(|author| {
            station.begin(Step::Verify(author))?;
            let part = part_of(rank.size.get(), author, rank.ranks);
            found.note(worker, author, part.end - part.start, rank.verify_part(author)?);
            Ok(())
        })
    })
}

/// Adds up all copies, and verifies the sums.
fn add_up(station: &Station<'_>, ranks: &mut [Rank<'_>], found: &mut Found) -> Result<(), WorkerError> {
    each(ranks, |rank| Ok(rank.add_up()?))?;
    each(ranks, |rank| {
        rank.synchronize()?;
        found.note(station.worker, rank.number, rank.size.get(), rank.verify_sum()?);
        Ok(())
    })
}

/// The norm that the ranks of this worker come to, the same one for all.
fn norm(ranks: &mut [Rank<'_>]) -> Result<f32, WorkerError> {
    let mut norm = 0.0;
    // Each waits for all the others on its device: all are queued before one is waited for.
    each(ranks, |rank| Ok(rank.queue_norm()?))?;
    each(ranks, |rank| {
        rank.synchronize()?;
        norm = rank.check_norm()?;
        Ok(())
    })?;
    Ok(norm)
}
