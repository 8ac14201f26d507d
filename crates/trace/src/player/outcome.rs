//! What came of playing traces.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde_json::{Map, Value as Json};

use super::compare::{Expected, Got};
use crate::call::StepCall;
use crate::format::Step;
use crate::write::object_text;

/// A step whose answer is not the recorded one.
#[derive(Debug)]
pub struct Mismatch {
    /// The name of the trace.
    pub trace: String,
    /// The index of the step in its trace, from 0.
    pub step: usize,
    /// The line of the step, in the text that the trace was read from.
    pub line: u64,
    /// The process that made the call.
    pub process: u32,
    /// The call.
    pub call: StepCall,
    /// Its arguments.
    pub arguments: Map<String, Json>,
    /// What the recording says.
    pub expected: Expected,
    /// What came of it.
    pub got: Got,
}

impl Mismatch {
    /// What came of a step that is not what the recording says.
    #[must_use]
    pub fn new(trace: &str, index: usize, step: &Step, got: Got) -> Self {
        Self {
            trace: trace.to_owned(),
            step: index,
            line: step.line,
            process: step.process,
            call: step.call,
            arguments: step.arguments.clone(),
            expected: step.into(),
            got,
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { trace, step, line, process, call, arguments, expected, got } = self;
        let arguments = object_text(arguments);
        write!(
            f,
            "trace {trace}, step {step} (line {line}): process {process} calls {call} {arguments}; \
             expected {expected}; got {got}"
        )
    }
}

/// What came of one trace, or of several added up.
#[derive(Debug, Default)]
pub struct Outcome {
    /// How many steps there were.
    pub steps: usize,
    /// How many of them were answered as recorded.
    pub matched: usize,
    /// The others, in the order in which they were played.
    pub mismatches: Vec<Mismatch>,
}

impl Outcome {
    /// Whether every step was answered as recorded.
    #[must_use]
    pub fn is_match(&self) -> bool {
        self.mismatches.is_empty()
    }

    /// Counts a step.
    pub(super) fn count(&mut self, mismatch: Option<Mismatch>) {
        self.steps += 1;
        match mismatch {
            Some(mismatch) => self.mismatches.push(mismatch),
            None => self.matched += 1,
        }
    }
}

impl AddAssign for Outcome {
    fn add_assign(&mut self, other: Self) {
        self.steps += other.steps;
        self.matched += other.matched;
        self.mismatches.extend(other.mismatches);
    }
}

impl Add for Outcome {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Sum for Outcome {
    fn sum<I: Iterator<Item = Self>>(outcomes: I) -> Self {
        outcomes.fold(Self::default(), Add::add)
    }
}
