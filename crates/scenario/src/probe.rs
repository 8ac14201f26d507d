//! What initialisation and one context take in a process that is alone, with the driver's own defaults: the least that any
//! program takes.
//!
//! A device that no context was on for about a second adds some 100 ms to the initialisation of every process that sees it
//! (two H200). So that reference and run find the devices alike, all of them are woken right before each.

use std::time::Duration;

use peermap_ipc::{Deadline, IpcError};
use peermap_report::{Event, EventSink};
use serde::{Deserialize, Serialize};

use crate::backend::Backend;
use crate::crew::{Ask, Conductor, Crew};
use crate::error::RunError;
use crate::launch::{Launcher, Tuning};
use crate::messages::{Done, Role, Start, Step};
use crate::timing::{median, whole_ms};
use crate::worker::{Station, WorkerError};

/// What a worker does that probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Probe {
    /// Makes a context on every device.
    Wake,
    /// Makes one context, and tells how long that and what came before it took.
    Time,
}

/// The times of a probe, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Probed {
    pub(crate) init_ms: f64,
    pub(crate) context_ms: f64,
}

/// How often it is measured; the median counts.
const ROUNDS: usize = 5;

/// Starts workers that probe, one after the other.
pub(crate) struct Prober<'a> {
    pub(crate) backend: &'a dyn Backend,
    pub(crate) launcher: &'a Launcher,
    pub(crate) deadline: Deadline,
}

impl Prober<'_> {
    /// Measures.
    ///
    /// Call it while no process of this run has the driver open: whoever has lets others start much sooner.
    pub(crate) fn time(&self) -> Result<Probed, RunError> {
        let mut times = [const { Vec::new() }; 2];
        for _ in 0..ROUNDS {
            self.wake()?;
            let crew = self.probe(Probe::Time)?;
            let time = |name| crew.hands().first().and_then(|hand| hand.done()?.phases.get(name)).unwrap_or_default();
            for (times, name) in times.iter_mut().zip(["init", "context"]) {
                times.push(time(name));
            }
        }
        let [init_ms, context_ms] = times.map(|times| median(times).unwrap_or_default());
        Ok(Probed { init_ms, context_ms })
    }

    /// Wakes all devices.
    pub(crate) fn wake(&self) -> Result<(), RunError> {
        self.probe(Probe::Wake).map(drop)
    }

    fn probe(&self, probe: Probe) -> Result<Crew, RunError> {
        let tuning = match probe {
            Probe::Wake => Tuning::OfBackend,
            Probe::Time => Tuning::None,
        };
        let mut crew = Crew::default();
        crew.resize(1, self.backend, self.launcher, tuning, &|_| None)?;
        crew.order(&|_| self.order(probe), None, self.deadline)?;
        // These workers are none of the run's, and who follows it does not hear of them.
        crew.conduct(&mut Watcher, &mut |_: &Event| {}, self.deadline)?;
        Ok(crew)
    }

    fn order(&self, probe: Probe) -> Start {
        let time_left_ms = whole_ms(self.deadline.remaining().unwrap_or(Duration::MAX));
        Start { worker: 0, workers: 1, device: None, time_left_ms, record_calls: false, role: Role::Probe(probe) }
    }
}

struct Watcher;

impl Conductor for Watcher {
    fn ready(&mut self, _worker: u32, _pid: u32, _events: &mut dyn EventSink) {}

    fn supply(&mut self, _ask: Ask<'_>) -> Result<(), IpcError> {
        Ok(())
    }

    fn step(&mut self, _worker: u32, _step: Step, _events: &mut dyn EventSink) {}

    fn lost(&mut self, _worker: u32) {}
}

/// The worker's side.
pub(crate) fn work(station: &mut Station<'_>, probe: Probe) -> Result<Done, WorkerError> {
    let driver = station.driver;
    station.begin(Step::Context)?;
    let contexts = match probe {
        // A device that has none for this process is the business of a run that needs it.
        Probe::Wake => (0..driver.device_get_count()?)
            .filter_map(|device| driver.ctx_create(0, driver.device_get(device).ok()?).ok())
            .collect(),
        Probe::Time => vec![station.phase("context", |station| Ok(driver.ctx_create(0, station.device)?))?],
    };
    station.begin(Step::Teardown)?;
    contexts.into_iter().try_for_each(|context| driver.ctx_destroy(context))?;
    Ok(Done { phases: std::mem::take(&mut station.phases), ..Done::default() })
}
