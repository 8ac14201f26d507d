//! What a worker works with.

use peermap_driver::{Context, Driver, DriverError, JitLog, JitOptions, Result, Stream};

use crate::device_kernels::DeviceKernels;
use crate::kernels::{Image, KernelSource, MEMMAP_IPC};
use crate::messages::Step;
use crate::task::Task;
use crate::timing::StreamTimer;
use crate::worker::{Station, WorkerError};

/// Flag of `cuStreamCreate`: the stream does not wait for the null stream (`CU_STREAM_NON_BLOCKING`).
pub(crate) const NON_BLOCKING: u32 = 1;

/// A context, a stream of its own, the kernels on that stream, and a timer for what they do.
pub(crate) struct Workplace<'d> {
    driver: &'d dyn Driver,
    context: Context,
    pub(crate) stream: Stream,
    pub(crate) kernels: DeviceKernels<'d>,
    pub(crate) timer: StreamTimer<'d>,
}

impl<'d> Workplace<'d> {
    /// Makes all of it, in the phases `context` and `module`.
    pub(crate) fn set_up(station: &mut Station<'d>, task: &Task) -> std::result::Result<Self, WorkerError> {
        let driver = station.driver;
        station.begin(Step::Context)?;
        let (context, stream) = station.phase("context", |station| {
            let context = driver.ctx_create(0, station.device)?;
            Ok((context, driver.stream_create(NON_BLOCKING)?))
        })?;
        station.begin(Step::Module)?;
        let kernels = station.phase("module", |station| load_kernels(station, stream, task))?;
        let timer = StreamTimer::new(driver, stream)?;
        Ok(Self { driver, context, stream, kernels, timer })
    }

    /// Makes its context the current one, where a worker has several.
    pub(crate) fn enter(&self) -> Result<()> {
        self.driver.ctx_set_current(Some(self.context))
    }

    /// Gives all of it back, the last first.
    pub(crate) fn clear_away(self) -> Result<()> {
        self.timer.destroy()?;
        self.kernels.unload()?;
        self.driver.stream_destroy(self.stream)?;
        self.driver.ctx_destroy(self.context)
    }

    /// Gives up all of it after a fault: the context takes the rest with it, and no other call about it succeeds.
    pub(crate) fn abandon(self) -> Result<()> {
        self.driver.ctx_destroy(self.context)
    }
}

/// Loads the kernels that fill and verify.
fn load_kernels<'d>(
    station: &mut Station<'d>,
    stream: Stream,
    task: &Task,
) -> std::result::Result<DeviceKernels<'d>, WorkerError> {
    let (driver, device) = (station.driver, station.device);
    load(station, task, &MEMMAP_IPC, |image, options| {
        DeviceKernels::load(driver, device, stream, image, task.fill, options)
    })
}

/// Loads kernels with the sample's options for the compiler, and says what that said.
pub(crate) fn load<T>(
    station: &mut Station<'_>,
    task: &Task,
    image: &Image,
    load: impl FnOnce(&[u8], &mut JitOptions) -> Result<T>,
) -> std::result::Result<T, WorkerError> {
    let source = task.kernels.of(image);
    let mut options = JitOptions::sample();
    let loaded = load(&source.read(image)?, &mut options);
    if task.verbose {
        station.note(format!("kernels from {source}{}", said(options.info_log.as_ref())))?;
    }
    loaded.map_err(|error| refused(&source, options.error_log.as_ref(), error))
}

/// What a log of the compiler holds, as the end of a sentence.
fn said(log: Option<&JitLog>) -> String {
    match log.map_or("", |log| log.text().trim()) {
        "" => String::new(),
        text => format!("; the compiler said: {text}"),
    }
}

fn refused(kernels: &KernelSource, log: Option<&JitLog>, source: DriverError) -> WorkerError {
    WorkerError::Jit { log: format!("the kernels from {kernels} are refused{}", said(log)), source }
}
