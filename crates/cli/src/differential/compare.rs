//! One trace on two backends.

use std::cell::Cell;

use peermap_report::ExitCode;
use peermap_trace::{Expected, Got, Header, Machine, Mismatch, Step, StepResult, Trace};

use crate::play::Place;
use crate::refusal::Refusal;

/// The first step that two backends answer differently.
pub(super) struct Difference {
    /// The steps up to it, with the answers of the simulated machine.
    pub(super) trace: Trace,
    /// The same with the answers of the other backend.
    pub(super) recorded: Vec<Step>,
    /// What the other backend answered at last.
    pub(super) got: Got,
}

/// What must stay the same while a difference is shrunk.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Kind {
    call: &'static str,
    expected: StepResult,
    got: Option<StepResult>,
}

impl Difference {
    pub(super) fn kind(&self) -> Option<Kind> {
        let last = self.trace.steps.last()?;
        Some(Kind { call: last.call.name(), expected: last.result, got: self.got.result() })
    }

    /// The recording: what the other backend answered.
    pub(super) fn recording(&self, name: String, machine: Machine) -> Trace {
        let header = Header { name, machine, ..self.trace.header.clone() };
        Trace { header, line: 1, steps: self.recorded.clone() }
    }

    /// The step with both answers.
    pub(super) fn show(self) -> Option<Mismatch> {
        let last = self.trace.steps.last()?;
        let index = self.trace.steps.len() - 1;
        Some(Mismatch::new(&self.trace.header.name, index, last, self.got))
    }
}

/// Plays a trace on the other backend, up to the first step that it answers differently.
pub(super) fn compare(place: &Place, trace: &Trace) -> Result<Option<Difference>, Refusal> {
    let mut recorded = Vec::new();
    let mut found = None;
    let goes_on = Cell::new(true);
    let mut steps = trace.steps.iter().cloned().map(Ok).take_while(|_| goes_on.get());
    place.play(None, &mut steps, |_, step, got| {
        recorded.push(answered(step, &got));
        if !got.matches(&Expected::from(step)) {
            goes_on.set(false);
            found = Some(got);
        }
        Ok(())
    })?;
    Ok(found.map(|got| {
        let steps = trace.steps[..recorded.len()].to_vec();
        Difference { trace: Trace { steps, ..trace.clone() }, recorded, got }
    }))
}

/// A step with the answer that it got; where it got none that the format has a word for, as it was.
fn answered(step: &Step, got: &Got) -> Step {
    match got.result() {
        Some(result) => Step { result, out: got.out().cloned(), ..step.clone() },
        None => step.clone(),
    }
}

/// A trace with the answers that the simulated machine gives now. `None`: a step gets none, or the driver would crash.
pub(super) fn answer_again(simulated: &Place, trace: &Trace) -> Result<Option<Trace>, Refusal> {
    let mut answers = Vec::new();
    let mut is_certain = true;
    let mut steps = trace.steps.iter().cloned().map(Ok);
    simulated.play(None, &mut steps, |_, step, got| {
        is_certain &= got.result().is_some_and(|result| !result.ends_the_process());
        answers.push(answered(step, &got));
        Ok(())
    })?;
    Ok(is_certain.then(|| Trace { steps: answers, ..trace.clone() }))
}

/// Why the simulated machine answers the last step as it does.
pub(super) fn rule(simulated: &Place, trace: &Trace) -> Result<Option<String>, Refusal> {
    let mut text = None;
    let mut steps = trace.steps.iter().cloned().map(Ok);
    simulated.play(None, &mut steps, |_, _, got| {
        text = got.reason().map(ToString::to_string);
        Ok(())
    })?;
    Ok(text)
}

/// A folder or file that cannot be written.
pub(super) fn unwritten(error: impl Into<anyhow::Error>, path: &std::path::Path) -> Refusal {
    Refusal::new(ExitCode::Unexpected, error.into().context(format!("{} cannot be written", path.display())))
}
