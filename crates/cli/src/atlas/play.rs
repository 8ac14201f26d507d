//! Playing the recordings and counting which rules they reach.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;

use peermap_driver::{Call, CuResult, Driver, RuleId};
use peermap_model::Profile;
use peermap_sim::{SimMachine, SimProcess};
use peermap_trace::{
    End, Expected, Got, InOne, Machine, Processes, Reader, Session, StartError, Step, StepResult, Trace,
};
use serde::Serialize;

use super::recordings::Recording;
use crate::play::{OPTIONS, malformed, without_traces};
use crate::refusal::Refusal;

/// The machine that the recordings were made on.
const PROFILE: &str = "h200-x2";

/// How a call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answer {
    /// With this code; success where a rule is about a surprising acceptance.
    Code(CuResult),
    /// The driver crashes the process.
    Crash,
    /// The driver does not return.
    Hang,
}

impl Answer {
    fn of(result: StepResult) -> Option<Self> {
        match result {
            StepResult::Cuda(code) => Some(Self::Code(code)),
            StepResult::SegmentationFault => Some(Self::Crash),
            StepResult::TimedOut => Some(Self::Hang),
            StepResult::Ok | StepResult::Errno(_) | StepResult::Signal(_) => None,
        }
    }

    /// As the recordings write it.
    pub(super) fn name(self) -> String {
        match self {
            Self::Code(code) => code.name(),
            Self::Crash => StepResult::SegmentationFault.to_string(),
            Self::Hang => StepResult::TimedOut.to_string(),
        }
    }
}

/// A step of a recording.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) trace: String,
    /// Counted from 1.
    pub(super) step: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, trace, step } = self;
        write!(f, "{file} {trace} {step}")
    }
}

/// The steps that reach a rule by a call.
#[derive(Debug, Clone)]
pub(super) struct Reached {
    pub(super) steps: u64,
    pub(super) first: Place,
}

/// What the recordings reach.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// The steps that reach a rule by a call with an answer.
    pub(super) reached: BTreeMap<(Call, Answer, String), Reached>,
    /// Where they were recorded.
    pub(super) machines: BTreeSet<String>,
    /// Traces that were played.
    pub(super) traces: u64,
    /// Traces that need more devices than the machine has.
    pub(super) left_out: u64,
    /// Steps of the traces that were played.
    pub(super) steps: u64,
    /// Calls of the driver that are recorded to fail.
    pub(super) failing: u64,
    /// Those of them that fail here too, by a rule.
    pub(super) ruled: u64,
    /// The others, in words.
    pub(super) unruled: Vec<String>,
    /// Steps outside the driver that are recorded to fail.
    pub(super) outside: u64,
    /// Calls that succeed where a careful reader of the manual expects an error.
    pub(super) accepted: u64,
}

/// Plays every trace, each on a machine of its own.
///
/// # Errors
/// If a recording is malformed, or the host cannot back a machine.
pub(super) fn play(recordings: Vec<Recording>) -> Result<Counts, Refusal> {
    let profile = Profile::named(PROFILE).map_err(Refusal::unexpected)?;
    let mut counts = Counts::default();
    for Recording { name, path, text } in recordings {
        let mut traces = Reader::new(text).peekable();
        if traces.peek().is_none() {
            return Err(without_traces(&path));
        }
        for trace in traces {
            let trace = trace.map_err(|error| malformed(&path, error))?;
            if usize::try_from(trace.header.needs.devices).is_ok_and(|needs| needs <= profile.devices.len()) {
                counts.trace(&profile, &name, &trace)?;
            } else {
                counts.left_out += 1;
            }
        }
    }
    Ok(counts)
}

impl Counts {
    fn trace(&mut self, profile: &Profile, file: &str, trace: &Trace) -> Result<(), Refusal> {
        let machine = SimMachine::new(profile.clone(), OPTIONS).map_err(Refusal::unexpected)?;
        let running = Running::default();
        let mut processes = Watched { machine, running: Rc::clone(&running) };
        let mut session = Session::new(InOne::new(&mut processes));
        self.traces += 1;
        self.machines.insert(machine_of(trace));
        for (index, step) in trace.steps.iter().enumerate() {
            let before = misuses(&running, step.process).len();
            let got = session.step(step);
            let place = Place { file: file.to_owned(), trace: trace.header.name.clone(), step: index + 1 };
            self.refusal(step, &got, &place);
            let noted = misuses(&running, step.process).into_iter().skip(before);
            self.acceptances(step, noted, &place);
        }
        Ok(())
    }

    /// Counts a step that is recorded to fail.
    fn refusal(&mut self, step: &Step, got: &Got, place: &Place) {
        self.steps += 1;
        if step.result.is_success() {
            return;
        }
        let Some(call) = step.call.driver_call() else {
            self.outside += 1;
            return;
        };
        self.failing += 1;
        let rule = got.reason().filter(|_| got.matches(&Expected::from(step))).map(|reason| reason.rule().to_owned());
        match rule.zip(Answer::of(step.result)) {
            Some((rule, answer)) => {
                self.ruled += 1;
                self.reach(call, answer, rule, place);
            }
            None => self.unruled.push(format!("{place}: {step}: {}", step.result)),
        }
    }

    /// Counts what a step did that the driver accepts and a careful program does not do.
    fn acceptances(&mut self, step: &Step, noted: impl Iterator<Item = RuleId>, place: &Place) {
        let Some(call) = step.call.driver_call() else { return };
        for rule in noted {
            self.accepted += 1;
            self.reach(call, Answer::Code(CuResult::SUCCESS), rule.to_string(), place);
        }
    }

    fn reach(&mut self, call: Call, answer: Answer, rule: String, place: &Place) {
        let entry = self.reached.entry((call, answer, rule));
        entry.or_insert_with(|| Reached { steps: 0, first: place.clone() }).steps += 1;
    }
}

fn machine_of(trace: &Trace) -> String {
    let Machine { model, driver, cuda, .. } = &trace.header.machine;
    format!("{model}, driver {driver}, CUDA {}.{}", cuda / 1000, cuda % 1000 / 10)
}

/// The processes of a trace that have not ended.
type Running = Rc<RefCell<BTreeMap<u32, SimProcess>>>;

fn misuses(running: &Running, process: u32) -> Vec<RuleId> {
    let running = running.borrow();
    let noted = running.get(&process).map(SimProcess::misuses).unwrap_or_default();
    noted.iter().map(|misuse| misuse.rule).collect()
}

/// Processes whose misuses can be asked for while they run.
struct Watched {
    machine: SimMachine,
    running: Running,
}

impl Processes for Watched {
    fn start(&mut self, number: u32) -> Result<Box<dyn Driver>, StartError> {
        let process = self.machine.process()?;
        self.running.borrow_mut().insert(number, process.clone());
        Ok(Box::new(process))
    }

    fn end(&mut self, number: u32, driver: Box<dyn Driver>, _how: End) {
        drop(driver);
        // The process ends with the last value of it.
        self.running.borrow_mut().remove(&number);
    }
}
