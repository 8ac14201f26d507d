//! The worker's story, in the order in which NVIDIA's sample tells it.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use peermap_driver::{AccessDesc, ByteSize, Context, DevicePtr, DriverError, JitLog, JitOptions, Stream};
use peermap_ipc::Member;
use peermap_report::{Mismatch, gigabytes_per_second};
use serde::{Deserialize, Serialize};

use super::buffers::HANDLE_TYPE;
use super::measure;
use super::ring::{buffer_of, last_author};
use crate::check::{Verify, VerifyOn, on_device, on_host};
use crate::content::{Author, Fill};
use crate::device_kernels::{Buffer, DeviceKernels};
use crate::kernels::KernelSource;
use crate::messages::{Done, Step};
use crate::timing::{StreamTimer, median, ms_since};
use crate::worker::{Station, WorkerError};

/// What a worker of this scenario is to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) size: ByteSize,
    pub(crate) fill: Fill,
    pub(crate) verify: Verify,
    pub(crate) verify_on: VerifyOn,
    pub(crate) kernels: KernelSource,
    pub(crate) measure: bool,
    pub(crate) verbose: bool,
}

/// The alignment of the reservation: the size of a buffer in the sample.
const ALIGNMENT: ByteSize = ByteSize::mib(4);

/// Flag of `cuStreamCreate`: the stream does not wait for the null stream (`CU_STREAM_NON_BLOCKING`).
const NON_BLOCKING: u32 = 1;

/// Does the work of one worker. `descriptors` are those of all buffers, in their order.
pub(crate) fn work(
    station: &mut Station<'_>,
    mut member: Member,
    descriptors: Vec<OwnedFd>,
    task: &Task,
) -> Result<Done, WorkerError> {
    station.begin(Step::Context)?;
    let (context, stream) = station.phase("context", |station| {
        let context = station.driver.ctx_create(0, station.device)?;
        Ok((context, station.driver.stream_create(NON_BLOCKING)?))
    })?;

    station.begin(Step::Module)?;
    let kernels = station.phase("module", |station| load_kernels(station, stream, task))?;
    let timer = StreamTimer::new(station.driver, stream)?;

    let row = station.phase("map", |station| map_all(station, task.size, descriptors))?;
    let rates = station.phase("fill", |station| fill_in_turn(station, &mut member, &kernels, &timer, stream, row))?;
    let (verified, mismatch) = station.phase("verify", |station| verify(station, task, &kernels, row))?;

    let own = row.buffer(station.worker);
    let measured = match task.measure {
        true => Some(measure::rates(station, &mut member, &kernels, &timer, stream, own)?),
        false => None,
    };

    station.begin(Step::Teardown)?;
    let begun = Instant::now();
    timer.destroy()?;
    teardown(station, context, stream, kernels, row)?;
    station.phases.add("teardown", ms_since(begun));

    let fill_gb_s = median(rates);
    Ok(Done { phases: std::mem::take(&mut station.phases), verified, fill_gb_s, mismatch, measured })
}

/// Loads the kernels with the sample's options for the compiler.
fn load_kernels<'d>(station: &mut Station<'d>, stream: Stream, task: &Task) -> Result<DeviceKernels<'d>, WorkerError> {
    let image = task.kernels.read()?;
    let mut options = JitOptions::sample();
    let loaded = DeviceKernels::load(station.driver, station.device, stream, &image, task.fill, &mut options);
    if task.verbose {
        station.note(format!("kernels from {}{}", task.kernels, said(options.info_log.as_ref())))?;
    }
    loaded.map_err(|source| refused(task, options.error_log.as_ref(), source))
}

/// What a log of the compiler holds, as the end of a sentence.
fn said(log: Option<&JitLog>) -> String {
    match log.map_or("", |log| log.text().trim()) {
        "" => String::new(),
        text => format!("; the compiler said: {text}"),
    }
}

fn refused(task: &Task, log: Option<&JitLog>, source: DriverError) -> WorkerError {
    WorkerError::Jit { log: format!("the kernels from {} are refused{}", task.kernels, said(log)), source }
}

/// All buffers of a run, mapped one behind the other.
#[derive(Clone, Copy)]
struct Row {
    start: DevicePtr,
    each: ByteSize,
    all: ByteSize,
}

impl Row {
    fn buffer(self, number: u32) -> Buffer {
        let all = Buffer { ptr: self.start, size: self.all };
        Buffer { ptr: all.at(self.each.get().saturating_mul(u64::from(number))), size: self.each }
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
        let handle = driver.mem_import_from_shareable_handle(descriptor.as_fd().into(), HANDLE_TYPE)?;
        driver.mem_map(row.buffer(number).ptr, each, ByteSize::ZERO, handle, 0)?;
        // The mapping keeps the memory.
        driver.mem_release(handle)?;
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
    kernels: &DeviceKernels<'_>,
    timer: &StreamTimer<'_>,
    stream: Stream,
    row: Row,
) -> Result<Vec<f64>, WorkerError> {
    let (worker, workers) = (station.worker, station.workers);
    let mut rates = Vec::with_capacity(workers as usize);
    for step in 0..workers {
        station.begin(Step::Fill(step))?;
        let buffer = row.buffer(buffer_of(worker, step, workers));
        timer.around(|| kernels.fill(buffer, Author { worker, step }))?;
        station.driver.stream_synchronize(stream)?;
        rates.extend(gigabytes_per_second(buffer.size.get(), timer.milliseconds()?));
        station.meet(member, Step::Barrier(step))?;
    }
    Ok(rates)
}

/// Verifies the own buffer, and then the others if that is asked for, up to the first that is wrong. Gives how many bytes
/// are right.
fn verify(
    station: &mut Station<'_>,
    task: &Task,
    kernels: &DeviceKernels<'_>,
    row: Row,
) -> Result<(u64, Option<Mismatch>), WorkerError> {
    let (worker, workers) = (station.worker, station.workers);
    let count = match task.verify {
        Verify::Own => 1,
        Verify::All => workers,
    };
    let mut verified = 0;
    for step in 0..count {
        let number = buffer_of(worker, step, workers);
        station.begin(Step::Verify(number))?;
        let (buffer, author) = (row.buffer(number), last_author(number, workers));
        let difference = match task.verify_on {
            VerifyOn::Device => on_device(station.driver, kernels, buffer, author)?,
            VerifyOn::Host => on_host(station.driver, buffer, kernels.content(author))?,
        };
        if let Some(difference) = difference {
            return Ok((verified, Some(difference.seen_by(worker, number))));
        }
        verified += buffer.size.get();
    }
    Ok((verified, None))
}

/// Gives everything back, in the sample's order. The descriptors were closed after the import.
fn teardown(
    station: &Station<'_>,
    context: Context,
    stream: Stream,
    kernels: DeviceKernels<'_>,
    row: Row,
) -> Result<(), WorkerError> {
    let driver = station.driver;
    driver.stream_destroy(stream)?;
    kernels.unload()?;
    driver.mem_unmap(row.start, row.all)?;
    driver.mem_address_free(row.start, row.all)?;
    Ok(driver.ctx_destroy(context)?)
}
