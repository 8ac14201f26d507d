//! The worker's story, in the order in which NVIDIA's sample tells it.

use std::os::fd::{AsFd, OwnedFd};

use peermap_driver::{AccessDesc, ByteSize, DevicePtr, Driver};
use peermap_ipc::Member;
use peermap_report::gigabytes_per_second;

use crate::content::Author;
use crate::device_kernels::Buffer;
use crate::exported::map;
use crate::messages::{Done, Step};
use crate::ring::{Filled, Memory, buffer_of};
use crate::task::Task;
use crate::worker::{Station, WorkerError};
use crate::workplace::Workplace;

/// The alignment of the reservation: the size of a buffer in the sample.
const ALIGNMENT: ByteSize = ByteSize::mib(4);

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

/// All buffers of a run, mapped one behind the other.
#[derive(Clone, Copy)]
struct Row {
    start: DevicePtr,
    each: ByteSize,
    all: ByteSize,
}

impl Memory for Row {
    fn buffer(&self, number: u32) -> Buffer {
        let all = Buffer { ptr: self.start, size: self.all };
        Buffer { ptr: all.at(self.each.get().saturating_mul(u64::from(number))), size: self.each }
    }

    /// The descriptors were closed after the import.
    fn give_back(self, driver: &dyn Driver) -> peermap_driver::Result<()> {
        driver.mem_unmap(self.start, self.all)?;
        driver.mem_address_free(self.start, self.all)
    }
}

/// Reserves addresses, imports and maps every buffer, and lets this worker's device in.
fn map_all(station: &mut Station<'_>, each: ByteSize, descriptors: Vec<OwnedFd>) -> Result<Row, WorkerError> {
    let (driver, workers) = (station.driver, station.workers);
    station.begin(Step::Reserve)?;
    let too_large = WorkerError::TooLarge { workers, size: each.get() };
    let all = each.checked_mul(u64::from(workers)).ok_or(too_large)?;
    let start = driver.mem_address_reserve(all, ALIGNMENT, DevicePtr::NULL, 0)?;
    let row = Row { start, each, all };

    station.begin(Step::Import)?;
    for (number, descriptor) in (0..).zip(&descriptors) {
        map(driver, descriptor.as_fd(), row.buffer(number))?;
    }
    drop(descriptors);

    station.begin(Step::Access)?;
    driver.mem_set_access(start, all, &[AccessDesc::read_write(station.device.0)])?;
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
