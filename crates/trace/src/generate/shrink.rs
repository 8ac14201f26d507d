//! From a trace that shows a difference to the shortest part of it that still does.

use std::collections::BTreeSet;

use peermap_driver::Call;
use serde_json::Value as Json;

use crate::format::{Step, Trace};
use crate::reference::Reference;

/// What came of shrinking.
#[derive(Debug)]
pub struct Shrunk {
    /// The part that still shows the difference.
    pub trace: Trace,
    /// How many parts were tried.
    pub tries: usize,
    /// Whether no single step can be taken out any more. Otherwise the tries ran out.
    pub is_minimal: bool,
}

/// Takes steps out of a trace for as long as `shows` says that the rest shows the same. `shows` is asked at most `tries`
/// times; it answers with the rest, with the answers that belong to it now, cut off where nothing more matters.
///
/// A step goes together with the later ones that use what it names, and work goes together with the step after it that
/// waits for it, so that what is left is as certain as the trace was.
pub fn shrink(trace: Trace, tries: usize, mut shows: impl FnMut(&Trace) -> Option<Trace>) -> Shrunk {
    let mut state = Shrunk { trace, tries: 0, is_minimal: false };
    let mut attempt = |state: &mut Shrunk, chosen: BTreeSet<usize>| {
        let without = without(&state.trace, chosen);
        if without.steps.is_empty() || state.tries >= tries {
            return false;
        }
        state.tries += 1;
        let Some(rest) = shows(&without) else { return false };
        state.trace = rest;
        true
    };
    let processes: BTreeSet<u32> = state.trace.steps.iter().map(|step| step.process).collect();
    for process in processes {
        let steps = state.trace.steps.iter().enumerate();
        let of_it = steps.filter(|(_, step)| step.process == process).map(|(index, _)| index).collect();
        attempt(&mut state, of_it);
    }
    let mut length = state.trace.steps.len() / 2;
    while length > 0 && state.tries < tries {
        let gone = chunks(&mut state, length, &mut attempt);
        match (length, gone) {
            (1, false) => break,
            (1, true) => {}
            _ => length /= 2,
        }
    }
    state.is_minimal = state.tries < tries;
    state
}

/// Tries to take out each piece of a length, from the end, and says whether one went.
fn chunks(state: &mut Shrunk, length: usize, attempt: &mut impl FnMut(&mut Shrunk, BTreeSet<usize>) -> bool) -> bool {
    // The last step is the one that shows the difference.
    let mut end = state.trace.steps.len().saturating_sub(1);
    let mut gone = false;
    while end > 0 {
        let start = end.saturating_sub(length);
        gone |= attempt(state, (start..end).collect());
        end = start.min(state.trace.steps.len().saturating_sub(1));
    }
    gone
}

/// A trace without some steps, and without what cannot be without them.
fn without(trace: &Trace, mut gone: BTreeSet<usize>) -> Trace {
    let mut names = BTreeSet::new();
    for (index, step) in trace.steps.iter().enumerate() {
        let uses = step.arguments.values().any(|value| refers(value, &names));
        let waits = index > 0 && gone.contains(&(index - 1)) && waits_for(&trace.steps[index - 1], step);
        let is_waited_for = trace.steps.get(index + 1).is_some_and(|next| waits_for(step, next));
        if uses || waits || (is_waited_for && gone.contains(&(index + 1))) {
            gone.insert(index);
        }
        if gone.contains(&index) {
            names.extend(step.name.as_deref());
        }
    }
    let kept = trace.steps.iter().enumerate().filter(|(index, _)| !gone.contains(index));
    let steps = kept.map(|(_, step)| step).zip(2..).map(|(step, line)| Step { line, ..step.clone() }).collect();
    Trace { steps, ..trace.clone() }
}

fn refers(value: &Json, names: &BTreeSet<&str>) -> bool {
    match value {
        Json::String(text) => Reference::parse(text).is_some_and(|reference| names.contains(reference.name)),
        Json::Array(values) => values.iter().any(|value| refers(value, names)),
        Json::Object(fields) => fields.values().any(|value| refers(value, names)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

/// Whether the second step waits for what the first one starts.
fn waits_for(work: &Step, next: &Step) -> bool {
    let starts = [
        Call::cuMemsetD8,
        Call::cuMemcpyHtoD,
        Call::cuMemcpyDtoD,
        Call::cuLaunchKernel,
        Call::cuEventRecord,
        Call::cuStreamWaitEvent,
    ];
    let waits = [Call::cuCtxSynchronize, Call::cuStreamSynchronize, Call::cuStreamWaitEvent];
    let is = |step: &Step, calls: &[Call]| step.call.driver_call().is_some_and(|call| calls.contains(&call));
    work.process == next.process && is(work, &starts) && is(next, &waits)
}
