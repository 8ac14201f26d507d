//! A worker whose process something else started, such as `mpirun`: there is no parent, and all ranks do the same.

use std::path::Path;
use std::time::Instant;

use peermap_driver::{Device, Driver, HandleType};
use peermap_ipc::{Deadline, IpcError};
use peermap_report::{Event, EventSink, Failure, RunReport, WorkerReport};
use serde::{Deserialize, Serialize};

use super::{Fabric, Task};
use crate::devices::{Chosen, DeviceChoice, SelectError, Terms, select};
use crate::error::RunError;
use crate::exported::prop_as;
use crate::kernels::locate;
use crate::messages::{Done, Step};
use crate::parent::{SizeError, Story, check_granularity, check_room, outline, unfinished, worker_report};
use crate::post::Listener;
use crate::task;
use crate::timing::ms_since;
use crate::transport::{Transport, TransportError};
use crate::watched::{Watched, watched};
use crate::worker::{Station, WorkerError};

/// A rank of a job.
pub struct Rank<'a> {
    /// Its number, from 0.
    pub number: u32,
    /// How many ranks there are.
    pub count: u32,
    /// The driver of its process, not initialised yet.
    pub driver: &'a dyn Driver,
    /// Which of the devices that its process sees it works on; numbers beyond the last begin again with the first.
    pub device: u32,
    /// Its way to the other ranks.
    pub transport: &'a mut dyn Transport,
    /// The executable, beside which kernels are looked for.
    pub exe: &'a Path,
}

/// How a rank ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankEnd {
    /// What it did.
    pub report: WorkerReport,
    /// Why it could not go on, if it could not.
    pub failure: Option<Failure>,
    /// Whether that is only because another rank could not.
    pub follows: bool,
}

/// Does the work of a rank. However it ends, no other rank waits for it any more when this returns.
pub fn work_as_rank(fabric: &Fabric, rank: Rank<'_>, events: &mut dyn EventSink) -> RankEnd {
    let Rank { number, count, driver, device, transport, exe } = rank;
    let (driver, deadline) = (watched(driver), Deadline::after(fabric.options.timeout));
    let mut told = Told { worker: number, events, step: Step::Init };
    let mut attempt =
        Attempt { fabric, number, count, driver: &driver, nth: device, exe, deadline, init_ms: None, chosen: None };
    let outcome = attempt.make(transport, &mut told);
    match &outcome {
        // Others may still fail, and must not wait for this rank then.
        Ok(_) => drop(transport.meet(deadline)),
        Err(_) => transport.give_up(deadline),
    }
    attempt.end(outcome, told.step)
}

/// The report of a job, from the ends of its ranks in their order.
#[must_use]
pub fn report_of_ranks(
    fabric: &Fabric,
    backend: &str,
    profile: Option<&str>,
    ends: Vec<RankEnd>,
    wall_ms: f64,
) -> RunReport {
    let first = |follows| ends.iter().find(|end| end.failure.is_some() && end.follows == follows);
    let failure = first(false).or_else(|| first(true)).and_then(|end| end.failure.clone());
    let workers: Vec<WorkerReport> = ends.into_iter().map(|end| end.report).collect();
    let fill = fabric.options.fill_of(workers.len() as u32).ok();
    RunReport { ok: failure.is_none(), failure, workers, wall_ms, ..outline(fabric, backend, profile, fill, None) }
}

/// What a rank tries to do, and what is known of it on the way.
struct Attempt<'a> {
    fabric: &'a Fabric,
    number: u32,
    count: u32,
    driver: &'a Watched<'a>,
    nth: u32,
    exe: &'a Path,
    deadline: Deadline,
    init_ms: Option<f64>,
    chosen: Option<Chosen>,
}

/// Why a rank cannot go on.
enum RankError {
    /// The work cannot begin.
    Run(RunError),
    /// It began.
    Worker(WorkerError),
}

impl<E: Into<WorkerError>> From<E> for RankError {
    fn from(error: E) -> Self {
        Self::Worker(error.into())
    }
}

impl Attempt<'_> {
    fn make(&mut self, transport: &mut dyn Transport, told: &mut Told<'_>) -> Result<Done, RankError> {
        let options = &self.fabric.options;
        let usage = |error| RankError::Run(RunError::Usage(error));
        options.check().map_err(usage)?;
        let fill = options.fill_of(self.count).map_err(usage)?;
        let kernels = locate(options.kernels.as_deref(), self.exe).map_err(usage)?;
        let begun = Instant::now();
        self.driver.init(0).map_err(|source| WorkerError::Init { source })?;
        let init_ms = *self.init_ms.insert(ms_since(begun));
        let device = self.choose()?;
        let (size, verify, verify_on) = (options.size, options.verify, options.verify_on);
        let work = task::Task { size, fill, verify, verify_on, kernels, measure: false, verbose: options.verbose };
        let who = (self.number, self.count);
        let mut station = Station::new(self.driver, device, told, who, self.deadline, init_ms);
        Ok(super::work(&mut station, transport, &Task { work, mistake: self.fabric.mistake })?)
    }

    /// The device of this rank, if it can take part.
    fn choose(&mut self) -> Result<Device, RankError> {
        let driver = self.driver;
        let trial = |device| self.fabric.try_device(driver, device);
        let terms = Terms { needs: self.fabric.needs(), peers: false, trial: &trial };
        let seen = driver.device_get_count()?;
        let wanted = [DeviceChoice::Ordinal((self.nth % seen.max(1).unsigned_abs()).cast_signed())];
        let mut selection = select(driver, Some(&wanted), &terms, false).map_err(|error| match error {
            SelectError::Usage(usage) => RankError::Run(usage.into()),
            SelectError::NoneUsable { rejected } => RankError::Run(RunError::NoUsableDevice { rejected }),
            SelectError::Driver(source) => source.into(),
        })?;
        let chosen = self.chosen.insert(selection.chosen.swap_remove(0));
        let size = self.fabric.options.size;
        let checked = check_granularity(driver, &prop_as(chosen, HandleType::FABRIC), size)
            .and_then(|granularity| check_room(driver, &[(chosen, 1)], size, granularity, None));
        match checked {
            Ok(()) => Ok(chosen.device),
            Err(SizeError::Usage(usage)) => Err(RankError::Run(usage.into())),
            Err(SizeError::Driver(source)) => Err(source.into()),
        }
    }

    fn end(self, outcome: Result<Done, RankError>, step: Step) -> RankEnd {
        let (worker, pid) = (self.number, std::process::id());
        let follows =
            matches!(outcome, Err(RankError::Worker(WorkerError::Transport(TransportError::RankFailed { .. }))));
        let (done, step, error) = match outcome {
            Ok(done) => {
                let mismatch = done.mismatch.map(|mismatch| RunError::Mismatch { mismatch, pid });
                (done, Step::Exit, mismatch)
            }
            Err(RankError::Run(error)) => (unfinished(self.init_ms), step, Some(error)),
            Err(RankError::Worker(error)) => {
                let call = error.driver_error().and_then(|error| self.driver.interceptor().call_of(error));
                let complaint = error.complaint(call);
                (unfinished(self.init_ms), step, Some(RunError::Worker { worker, pid, step, complaint }))
            }
        };
        let failure = error.as_ref().map(RunError::failure).map(|failure| match failure.worker {
            Some(_) => failure,
            None => {
                Failure { worker: Some(worker), message: format!("worker {worker}: {}", failure.message), ..failure }
            }
        });
        let report = worker_report((worker, pid), self.chosen.as_ref(), &self.fabric.options, done, step);
        RankEnd { report, failure, follows }
    }
}

/// Passes on what a rank does, and keeps its last step.
struct Told<'a> {
    worker: u32,
    events: &'a mut dyn EventSink,
    step: Step,
}

impl Listener for Told<'_> {
    fn step(&mut self, step: Step) -> Result<(), IpcError> {
        self.step = step;
        self.events.event(&Event::Step { worker: self.worker, step: step.to_string() });
        Ok(())
    }

    fn note(&mut self, text: String) -> Result<(), IpcError> {
        self.events.event(&Event::Note { worker: Some(self.worker), text });
        Ok(())
    }
}
