//! What initialisation and one context take in a process that is alone, with the driver's own defaults: the least that any
//! program takes.

use std::time::Duration;

use peermap_ipc::{Deadline, IpcError};
use peermap_report::EventSink;

use crate::backend::Backend;
use crate::crew::{Ask, Conductor, Crew};
use crate::error::RunError;
use crate::launch::{Launcher, Tuning};
use crate::messages::{Done, Role, Start, Step};
use crate::timing::{median, whole_ms};
use crate::worker::{Station, WorkerError};

/// The times of a probe, in milliseconds.
pub(crate) struct Probed {
    pub(crate) init_ms: f64,
    pub(crate) context_ms: f64,
}

/// How often it is measured; the median counts.
const ROUNDS: usize = 3;

/// Starts workers that do nothing else, one after the other.
///
/// Call it before anything else of this host opens the driver: a device that somebody has open is ready much sooner.
pub(crate) fn run(
    backend: &dyn Backend,
    launcher: &Launcher,
    events: &mut dyn EventSink,
    deadline: Deadline,
) -> Result<Probed, RunError> {
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        let mut crew = Crew::default();
        crew.resize(1, backend, launcher, Tuning::None, &|_| None)?;
        crew.order(&|_| order(deadline), None, deadline)?;
        crew.conduct(&mut Prober, events, deadline)?;
        let time = |name| crew.hands().first().and_then(|hand| hand.done()?.phases.get(name)).unwrap_or_default();
        for (times, name) in times.iter_mut().zip(["init", "context"]) {
            times.push(time(name));
        }
    }
    let [init_ms, context_ms] = times.map(|times| median(times).unwrap_or_default());
    Ok(Probed { init_ms, context_ms })
}

struct Prober;

fn order(deadline: Deadline) -> Start {
    let time_left_ms = whole_ms(deadline.remaining().unwrap_or(Duration::MAX));
    Start { worker: 0, workers: 1, device: None, time_left_ms, record_calls: false, role: Role::Probe }
}

impl Conductor for Prober {
    fn ready(&mut self, _worker: u32, _pid: u32, _events: &mut dyn EventSink) {}

    fn supply(&mut self, _ask: Ask<'_>) -> Result<(), IpcError> {
        Ok(())
    }

    fn step(&mut self, _worker: u32, _step: Step, _events: &mut dyn EventSink) {}

    fn lost(&mut self, _worker: u32) {}
}

/// The worker's side.
pub(crate) fn work(station: &mut Station<'_>) -> Result<Done, WorkerError> {
    station.begin(Step::Context)?;
    let context = station.phase("context", |station| Ok(station.driver.ctx_create(0, station.device)?))?;
    station.begin(Step::Teardown)?;
    station.driver.ctx_destroy(context)?;
    Ok(Done { phases: std::mem::take(&mut station.phases), ..Done::default() })
}
