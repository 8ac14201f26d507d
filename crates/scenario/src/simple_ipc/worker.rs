//! The worker's story, in the order in which NVIDIA's sample tells it.

use std::os::fd::OwnedFd;

use peermap_ipc::Member;
use peermap_report::gigabytes_per_second;
use serde::{Deserialize, Serialize};

use super::Order;
use super::board::Board;
use super::opened::Opened;
use crate::content::Author;
use crate::messages::{Done, Step};
use crate::ring::{Filled, Memory, buffer_of};
use crate::task;
use crate::worker::{Station, WorkerError};
use crate::workplace::Workplace;

/// What a worker of this scenario is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) work: task::Task,
    pub(crate) order: Order,
    pub(crate) steps: u32,
}

/// Does the work of one worker. The only descriptor is that of the handles.
pub(crate) fn work(
    station: &mut Station<'_>,
    mut member: Member,
    descriptors: Vec<OwnedFd>,
    task: &Task,
) -> Result<Done, WorkerError> {
    let workplace = Workplace::set_up(station, &task.work)?;
    station.begin(Step::Open)?;
    let opened = station.phase("open", |station| open(station, descriptors, task))?;
    station.meet(&mut member, Step::Assemble)?;
    let rate = station.phase("ring", |station| go_round(station, &mut member, &workplace, &opened, task))?;
    let rates = rate.into_iter().collect();
    let filled = Filled { task: &task.work, workplace, memory: opened, steps: task.steps, rates };
    filled.conclude(station, &mut member)
}

fn open(station: &Station<'_>, mut descriptors: Vec<OwnedFd>, task: &Task) -> Result<Opened, WorkerError> {
    let board = descriptors.pop().ok_or(WorkerError::NoHandles)?;
    let handles = Board::read(board, station.workers)?;
    Ok(Opened::open(station.driver, &handles, task.work.size)?)
}

/// Fills a buffer in each step, behind whoever filled it in the step before, until all work of all workers has ended. Gives the
/// rate of the last fill in GB/s.
fn go_round(
    station: &mut Station<'_>,
    member: &mut Member,
    workplace: &Workplace<'_>,
    opened: &Opened,
    task: &Task,
) -> Result<Option<f64>, WorkerError> {
    let Workplace { stream, kernels, timer, .. } = workplace;
    let (driver, worker, workers) = (station.driver, station.worker, station.workers);
    for step in 0..task.steps {
        station.begin(Step::Fill(step))?;
        let number = buffer_of(worker, step, workers);
        let (buffer, event) = (opened.buffer(number), opened.event(number));
        if task.order == Order::Events {
            driver.stream_wait_event(*stream, event, 0)?;
        }
        timer.around(|| kernels.fill(buffer, Author { worker, step }))?;
        match task.order {
            Order::Events => driver.event_record(event, *stream)?,
            Order::Host => driver.stream_synchronize(*stream)?,
            Order::None => {}
        }
        // Whoever fills this buffer next must find the event recorded.
        station.meet(member, Step::Barrier(step))?;
    }
    station.begin(Step::Synchronize)?;
    driver.stream_synchronize(*stream)?;
    let rate = gigabytes_per_second(task.work.size.get(), timer.milliseconds()?);
    station.meet(member, Step::Complete)?;
    Ok(rate)
}
