//! Who works where, with what; and what the report says about it.

use std::time::Duration;

use peermap_ipc::Deadline;
use peermap_report::calls::ProcessCalls;
use peermap_report::{Account, Failure, Phases, RejectedDevice, RunReport, SCHEMA, WorkerReport};

use super::Story;
use crate::backend::Backend;
use crate::content::Fill;
use crate::crew::Hand;
use crate::devices::Chosen;
use crate::error::{RunError, UsageError};
use crate::kernels::KernelSource;
use crate::messages::{Done, Role, Start, Step};
use crate::options::Options;
use crate::scenario::Scenario;
use crate::task::Task;
use crate::timing::whole_ms;

/// What was decided before the workers got their work.
pub(crate) struct Plan {
    /// The devices that take part; at least one.
    chosen: Vec<Chosen>,
    rejected: Vec<RejectedDevice>,
    pub(crate) workers: u32,
    fill: Fill,
}

impl Plan {
    pub(super) fn new(
        options: &Options,
        chosen: Vec<Chosen>,
        rejected: Vec<RejectedDevice>,
        workers: u32,
    ) -> Result<Self, UsageError> {
        let fill = options.fill_of(workers)?;
        Ok(Self { chosen, rejected, workers, fill })
    }

    /// The device of a worker. Neighbours sit on different devices, if there are several.
    pub(crate) fn device_of(&self, worker: u32) -> &Chosen {
        &self.chosen[worker as usize % self.chosen.len()]
    }

    /// The devices that take part.
    pub(crate) fn devices(&self) -> &[Chosen] {
        &self.chosen
    }

    /// The device that holds all memory, where one does.
    pub(crate) fn first(&self) -> &Chosen {
        self.device_of(0)
    }

    /// The devices, each with the number of its workers.
    pub(crate) fn workers_by_device(&self) -> Vec<(&Chosen, u32)> {
        let each = self.workers / self.chosen.len() as u32;
        self.chosen.iter().map(|device| (device, each)).collect()
    }

    /// What each worker is to do.
    pub(super) fn task(&self, options: &Options, kernels: &KernelSource, measure: bool) -> Task {
        Task {
            size: options.size,
            fill: self.fill,
            verify: options.verify,
            verify_on: options.verify_on,
            kernels: kernels.clone(),
            measure,
            verbose: options.verbose,
        }
    }

    /// The order of one of the workers.
    pub(super) fn order(&self, worker: u32, role: Role, record_calls: bool, deadline: Deadline) -> Start {
        // Workers get a little more, so that it is the parent that notices the end of the time and says who is late.
        const MORE: Duration = Duration::from_secs(1);
        let time_left = deadline.remaining().map_or(Duration::MAX, |left| left.saturating_add(MORE));
        let (workers, device, time_left_ms) = (self.workers, Some(self.device_of(worker).uuid), whole_ms(time_left));
        Start { worker, workers, device, time_left_ms, record_calls, role }
    }

    /// What came of it.
    pub(super) fn report(
        &self,
        story: &dyn Story,
        backend: &dyn Backend,
        kernels: &KernelSource,
        end: End<'_>,
    ) -> RunReport {
        RunReport {
            ok: end.failure.is_none(),
            rejected: self.rejected.clone(),
            workers: end.hands.iter().map(|hand| self.worker_report(story.options(), hand)).collect(),
            wall_ms: end.wall_ms,
            remarks: end.remarks,
            failure: end.failure.as_ref().map(|error| Failure { memory: end.memory, ..error.failure() }),
            ..outline(story, backend.name(), backend.profile(), Some(self.fill), Some(kernels))
        }
    }

    /// The driver calls of the workers.
    pub(super) fn calls(&self, hands: &[Hand], measure: bool) -> Vec<ProcessCalls> {
        let again = if measure { ", measuring" } else { "" };
        let of = |hand: &Hand| {
            let (calls, lost) = hand.calls.end(hand.exit);
            let name = format!("worker {} ({}){again}", hand.worker(), self.device_of(hand.worker()).device);
            ProcessCalls { pid: hand.pid(), name, calls, lost }
        };
        hands.iter().map(of).collect()
    }

    fn worker_report(&self, options: &Options, hand: &Hand) -> WorkerReport {
        let done = hand.done().cloned().unwrap_or_else(|| unfinished(hand.init_ms()));
        let device = self.device_of(hand.worker());
        worker_report((hand.worker(), hand.pid()), Some(device), options, done, hand.step())
    }
}

/// What a worker did, by its number and process, up to its last step. It may have ended before it knew its device.
pub(crate) fn worker_report(
    (worker, pid): (u32, u32),
    device: Option<&Chosen>,
    options: &Options,
    done: Done,
    step: Step,
) -> WorkerReport {
    WorkerReport {
        worker,
        device: device.map_or(-1, |device| device.device.0),
        device_uuid: device.map_or_else(String::new, |device| device.uuid.to_string()),
        device_name: device.map_or_else(String::new, |device| device.name.clone()),
        pid,
        bytes: options.size.get(),
        verified: done.verified,
        fill_gb_s: done.fill_gb_s,
        phases_ms: done.phases,
        last_step: step.to_string(),
        measured: done.measured,
        tries: done.tries,
        grown: done.grown,
        alias_uses: done.alias_uses,
        striped: done.striped,
        norm: done.norm,
    }
}

/// The report of a run that ended with an error before any worker got its work.
#[must_use]
pub fn refused(scenario: &Scenario, backend: &dyn Backend, error: &RunError) -> RunReport {
    let story = scenario.story();
    let rejected = match error {
        RunError::NoUsableDevice { rejected } => rejected.clone(),
        _ => Vec::new(),
    };
    let failure = Some(error.failure());
    RunReport { rejected, failure, ..outline(story, backend.name(), backend.profile(), story.options().fill, None) }
}

/// The report of a run of which nothing is known but what was asked for. `None`: not decided when the run ended.
pub(crate) fn outline(
    story: &dyn Story,
    backend: &str,
    profile: Option<&str>,
    fill: Option<Fill>,
    kernels: Option<&KernelSource>,
) -> RunReport {
    let mut options = story.options().shown(fill, kernels);
    options.extend(story.own_options().into_iter().map(|(name, value)| (name.to_owned(), value)));
    RunReport {
        schema: SCHEMA,
        scenario: story.name().to_owned(),
        backend: backend.to_owned(),
        profile: profile.map(str::to_owned),
        ok: false,
        options,
        rejected: Vec::new(),
        workers: Vec::new(),
        wall_ms: 0.0,
        remarks: Vec::new(),
        reference: None,
        failure: None,
        provenance: None,
        calls: None,
    }
}

/// How a run ended.
pub(super) struct End<'a> {
    pub(super) hands: &'a [Hand],
    pub(super) failure: Option<RunError>,
    /// What there was to tell of memory when it failed.
    pub(super) memory: Option<Account>,
    pub(super) wall_ms: f64,
    pub(super) remarks: Vec<String>,
}

/// What is known of a worker that did not come to its end.
pub(crate) fn unfinished(init_ms: Option<f64>) -> Done {
    let mut phases = Phases::default();
    if let Some(init_ms) = init_ms {
        phases.add("init", init_ms);
    }
    Done { phases, ..Done::default() }
}
