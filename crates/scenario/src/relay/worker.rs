//! The worker's story, in the order in which NVIDIA's samples tell it.

use std::os::fd::OwnedFd;

use peermap_driver::Stream;
use peermap_ipc::Member;
use peermap_report::gigabytes_per_second;
use serde::{Deserialize, Serialize};

use super::board::Board;
use super::imports::Imports;
use super::{Importer, Order};
use crate::content::Author;
use crate::messages::{Done, Step};
use crate::post::Delivery;
use crate::ring::{Filled, Memory, buffer_of};
use crate::task;
use crate::worker::{Station, WorkerError};
use crate::workplace::Workplace;

/// What a worker is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) work: task::Task,
    pub(crate) order: Order,
    pub(crate) steps: u32,
}

/// Does the work of one worker. The first descriptor that the parent delivers is that of the handles; `importer` gets those that follow, and the stream
/// that the worker works on.
pub(crate) fn work<I: Importer>(
    station: &mut Station<'_>,
    mut member: Member,
    delivery: Delivery<'_>,
    task: &Task,
    importer: impl FnOnce(Stream, Vec<OwnedFd>) -> I,
) -> Result<Done, WorkerError> {
    let workplace = Workplace::set_up(station, &task.work)?;
    let delivered = delivery.receive()?;
    station.begin(Step::Open)?;
    let imports = station.phase("open", |station| {
        let mut descriptors = delivered.descriptors.into_iter();
        let board = descriptors.next().ok_or(WorkerError::NoHandles)?;
        let handles = Board::read(board, station.workers)?;
        let memory = importer(workplace.stream, descriptors.collect());
        Ok(Imports::open(station.driver, memory, &handles, task.work.size)?)
    })?;
    station.meet(&mut member, Step::Assemble)?;
    let rate = station.phase("ring", |station| go_round(station, &mut member, &workplace, &imports, task))?;
    let rates = rate.into_iter().collect();
    let filled = Filled { task: &task.work, workplace, memory: imports, steps: task.steps, rates };
    filled.conclude(station, &mut member)
}

/// Fills a buffer in each step, behind whoever filled it in the step before, until all work of all workers has ended. Gives the
/// rate of the last fill in GB/s.
fn go_round(
    station: &mut Station<'_>,
    member: &mut Member,
    workplace: &Workplace<'_>,
    imports: &Imports<impl Importer>,
    task: &Task,
) -> Result<Option<f64>, WorkerError> {
    let Workplace { stream, kernels, timer, .. } = workplace;
    let (driver, worker, workers) = (station.driver, station.worker, station.workers);
    for step in 0..task.steps {
        station.begin(Step::Fill(step))?;
        let number = buffer_of(worker, step, workers);
        let (buffer, event) = (imports.buffer(number), imports.event(number));
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
