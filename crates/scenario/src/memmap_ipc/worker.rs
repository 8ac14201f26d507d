//! The worker's story, in the order in which NVIDIA's sample tells it.

use std::os::fd::OwnedFd;

use peermap_driver::{AccessDesc, ByteSize};
use peermap_ipc::Member;
use peermap_report::gigabytes_per_second;

use crate::content::Author;
use crate::exported::Row;
use crate::messages::{Done, Step};
use crate::ring::{Filled, Memory as _, buffer_of};
use crate::task::Task;
use crate::worker::{Station, WorkerError};
use crate::workplace::Workplace;

/// Does the work of one worker. `descriptors` are those of all buffers, in their order.
pub(crate) fn work(
    station: &mut Station<'_>,
    mut member: Member,
    descriptors: Vec<OwnedFd>,
    task: &Task,
) -> Result<Done, WorkerError> {
    let workplace = Workplace::set_up(station, task)?;
    let row = station.phase("map", |station| map_all(station, task.size, descriptors))?;
    let rates = station.phase("fill", |station| fill_in_turn(station, &mut member, &workplace, row))?;
    let filled = Filled { task, workplace, memory: row, steps: station.workers, rates };
    filled.conclude(station, &mut member)
}

/// Maps every buffer, and lets this worker's device in.
fn map_all(station: &mut Station<'_>, each: ByteSize, descriptors: Vec<OwnedFd>) -> Result<Row, WorkerError> {
    let row = Row::map(station, each, descriptors)?;
    station.begin(Step::Access)?;
    station.driver.mem_set_access(row.start, row.all, &[AccessDesc::read_write(station.device.0)])?;
    Ok(row)
}

/// Fills every buffer once, each in a step of its own, while the others fill the others. Gives the rates in GB/s.
fn fill_in_turn(
    station: &mut Station<'_>,
    member: &mut Member,
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
        station.meet(member, Step::Barrier(step))?;
    }
    Ok(rates)
}
