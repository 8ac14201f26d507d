//! The worker's story.

use peermap_driver::{AllocationProp, ByteSize, HandleType, MemHandle, ShareableHandle};
use peermap_report::gigabytes_per_second;
use serde::{Deserialize, Serialize};

use super::Mistake;
use crate::content::Author;
use crate::messages::{Done, Step};
use crate::ring::{Filled, Memory};
use crate::row::Row;
use crate::task;
use crate::transport::Transport;
use crate::worker::{Station, WorkerError};
use crate::workplace::Workplace;

/// What a worker of this scenario is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) work: task::Task,
    pub(crate) mistake: Mistake,
}

/// A byte of a handle that says which memory it is of.
const TELLING_BYTE: usize = 40;

/// Does the work of one worker.
pub(crate) fn work(station: &mut Station<'_>, transport: &mut dyn Transport, task: &Task) -> Result<Done, WorkerError> {
    let driver = station.driver;
    let workplace = Workplace::set_up(station, &task.work)?;
    let row = Row::reserve(station, task.work.size, task.work.size)?;
    let (own, exported) = station.phase("export", |station| export(station, task.work.size))?;
    station.begin(Step::Exchange)?;
    let mut handles =
        station.phase("exchange", |station| Ok(transport.exchange(Some(&exported), station.deadline)?))?;
    match task.mistake {
        Mistake::None => {}
        Mistake::Altered => alter(&mut handles[((station.worker + 1) % station.workers) as usize]),
        Mistake::Gone => {
            driver.mem_release(own)?;
            station.meet(transport, Step::Gone)?;
        }
    }
    station.phase("map", |station| map_all(station, row, &handles))?;
    station.meet(transport, Step::Assemble)?;
    driver.mem_release(own)?;
    let rate = station.phase("fill", |station| fill(station, &workplace, row))?;
    station.meet(transport, Step::Barrier(0))?;
    let rates = rate.into_iter().collect();
    Filled { task: &task.work, workplace, memory: row, steps: 1, rates }.conclude(station, transport)
}

/// Creates this worker's buffer on its device, and what opens it elsewhere.
fn export(station: &mut Station<'_>, size: ByteSize) -> Result<(MemHandle, ShareableHandle), WorkerError> {
    station.begin(Step::Export)?;
    let prop = AllocationProp::pinned_on(station.device.0, HandleType::FABRIC);
    let own = station.driver.mem_create(size, &prop, 0)?;
    Ok((own, station.driver.mem_export_to_shareable_handle(own, HandleType::FABRIC, 0)?))
}

/// Imports and maps the buffers of all workers, this one's own like the others.
fn map_all(station: &mut Station<'_>, row: Row, handles: &[ShareableHandle]) -> Result<(), WorkerError> {
    station.begin(Step::Import)?;
    for (exporter, handle) in (0..).zip(handles) {
        let imported = station.driver.mem_import_from_shareable_handle(handle.as_os_handle(), HandleType::FABRIC);
        let imported = imported.map_err(|source| WorkerError::OutOfReach { exporter, source })?;
        row.map(station.driver, exporter, imported)?;
    }
    row.open(station)
}

/// Fills this worker's buffer. Gives the rate in GB/s.
fn fill(station: &mut Station<'_>, workplace: &Workplace<'_>, row: Row) -> Result<Option<f64>, WorkerError> {
    let Workplace { stream, kernels, timer, .. } = workplace;
    station.begin(Step::Fill(0))?;
    let buffer = row.buffer(station.worker);
    timer.around(|| kernels.fill(buffer, Author { worker: station.worker, step: 0 }))?;
    station.driver.stream_synchronize(*stream)?;
    Ok(gigabytes_per_second(buffer.size.get(), timer.milliseconds()?))
}

fn alter(handle: &mut ShareableHandle) {
    if let ShareableHandle::Fabric(handle) = handle {
        handle.0[TELLING_BYTE] ^= 1;
    }
}
