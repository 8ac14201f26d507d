//! The worker's story, in the order in which NVIDIA's sample tells it.

use peermap_ipc::Member;
use peermap_report::gigabytes_per_second;
use serde::{Deserialize, Serialize};

use crate::content::Author;
use crate::exported::room;
use crate::messages::{Done, Step};
use crate::post::Delivery;
use crate::ring::{Filled, Memory, buffer_of};
use crate::row::Row;
use crate::task;
use crate::transport::Transport;
use crate::worker::{Station, WorkerError};
use crate::workplace::Workplace;

/// What a worker is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) work: task::Task,
    /// Whether the buffers have more than is used of them: the next multiple of the granularity.
    pub(crate) round_up: bool,
}

/// Does the work of one worker. The parent delivers the handles of all buffers, in their order.
pub(crate) fn work(
    station: &mut Station<'_>,
    member: Member,
    delivery: Delivery<'_>,
    task: &Task,
) -> Result<Done, WorkerError> {
    let workplace = Workplace::set_up(station, &task.work)?;
    let transport = &mut *delivery.receive()?.transport(member, station.workers)?;
    let row = station.phase("map", |station| map_all(station, transport, task))?;
    let rates = station.phase("fill", |station| fill_in_turn(station, transport, &workplace, row))?;
    let filled = Filled { task: &task.work, workplace, memory: row, steps: station.workers, rates };
    filled.conclude(station, transport)
}

/// Reserves addresses, imports and maps every buffer, and lets this worker's device in.
fn map_all(station: &mut Station<'_>, transport: &mut dyn Transport, task: &Task) -> Result<Row, WorkerError> {
    let driver = station.driver;
    let size = task.work.size;
    let room = if task.round_up { room(driver, station.device, size)? } else { size };
    let row = Row::reserve(station, size, room)?;
    station.begin(Step::Import)?;
    // Descriptors are closed at the end of this.
    let handles = transport.exchange(None, station.deadline)?;
    for (number, handle) in (0..).zip(&handles) {
        row.import(driver, number, handle.as_os_handle())?;
    }
    row.open(station)?;
    Ok(row)
}

/// Fills every buffer once, each in a step of its own, while the others fill the others. Gives the rates in GB/s.
fn fill_in_turn(
    station: &mut Station<'_>,
    transport: &mut dyn Transport,
    workplace: &Workplace<'_>,
    row: Row,
) -> Result<Vec<f64>, WorkerError> {
    let Workplace { stream, kernels, timer, .. } = workplace;
    let (worker, workers) = (station.worker, station.workers);
    let mut rates = Vec::with_capacity(workers as usize);
    for step in 0..workers {
        station.begin(Step::Fill(step))?;
        let buffer = row.buffer(buffer_of(worker, step, workers));
        timer.around(|| kernels.fill(buffer, Author { worker, step }))?;
        station.driver.stream_synchronize(*stream)?;
        rates.extend(gigabytes_per_second(buffer.size.get(), timer.milliseconds()?));
        station.meet(transport, Step::Barrier(step))?;
    }
    Ok(rates)
}
