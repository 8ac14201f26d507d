//! What a worker works with.

use peermap_driver::{Context, Driver, DriverError, JitLog, JitOptions, Result, Stream};

use crate::device_kernels::DeviceKernels;
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

/// Loads the kernels with the sample's options for the compiler.
fn load_kernels<'d>(
    station: &mut Station<'d>,
    stream: Stream,
    task: &Task,
) -> std::result::Result<DeviceKernels<'d>, WorkerError> {
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
