//! What a recording says, what the driver said, and whether they are the same.

use std::error::Error;
use std::fmt;

use peermap_driver::{DriverError, Explanation};
use serde_json::{Map, Value as Json};

use super::error::{Failure, PlayError};
use crate::call::StepCall;
use crate::result::StepResult;

/// What a recording says of a step.
#[derive(Clone, PartialEq, Debug)]
pub struct Expected {
    /// How it ended.
    pub result: StepResult,
    /// What it returned.
    pub out: Option<Map<String, Json>>,
}

/// What came of a step when it was played.
#[derive(Debug)]
pub enum Got {
    /// The driver, or the system, answered.
    Answer {
        /// How the step ended.
        result: StepResult,
        /// What it returned.
        out: Option<Map<String, Json>>,
        /// Why it was refused, where the backend can tell.
        explanation: Option<Box<Explanation>>,
    },
    /// The driver would crash the process here.
    WouldCrash(Box<Explanation>),
    /// The backend does not model what was asked.
    NotModelled {
        /// What was asked.
        what: String,
    },
    /// The backend cannot go on.
    Host {
        /// What is missing.
        what: String,
    },
    /// The step was not played.
    NotPlayed(PlayError),
}

impl Got {
    pub(super) fn new(call: StepCall, answered: Result<Option<Map<String, Json>>, Failure>) -> Self {
        let refused = |result, explanation| Self::Answer { result, out: None, explanation };
        match answered {
            Ok(out) => Self::Answer { result: StepResult::success_of(call), out, explanation: None },
            Err(Failure::Os(errno)) => refused(StepResult::Errno(errno), None),
            Err(Failure::Play(error)) => Self::NotPlayed(error),
            Err(Failure::Driver(DriverError::Refused { result, explanation })) => {
                refused(StepResult::Cuda(result), explanation)
            }
            Err(Failure::Driver(DriverError::WouldCrash { explanation })) => Self::WouldCrash(explanation),
            Err(Failure::Driver(DriverError::NotModelled { what })) => Self::NotModelled { what },
            Err(Failure::Driver(DriverError::Host { what })) => Self::Host { what },
        }
    }

    /// Whether this is what the recording says: the same result and the same returned values, all of them.
    #[must_use]
    pub fn matches(&self, expected: &Expected) -> bool {
        match self {
            Self::Answer { result, out, .. } => *result == expected.result && *out == expected.out,
            Self::WouldCrash(_) => expected.result == StepResult::SegmentationFault,
            Self::NotModelled { .. } | Self::Host { .. } | Self::NotPlayed(_) => false,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        answer(f, self.result, self.out.as_ref())
    }
}

impl fmt::Display for Got {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer { result, out, explanation } => {
                answer(f, *result, out.as_ref())?;
                match explanation {
                    Some(explanation) => write!(f, " ({explanation})"),
                    None => Ok(()),
                }
            }
            Self::WouldCrash(explanation) => write!(f, "SIGSEGV ({explanation})"),
            Self::NotModelled { what } => write!(f, "no answer: the backend does not model {what}"),
            Self::Host { what } => write!(f, "no answer: the backend cannot go on, {what}"),
            Self::NotPlayed(error) => {
                write!(f, "no answer: {error}")?;
                match error.source() {
                    Some(source) => write!(f, ": {source}"),
                    None => Ok(()),
                }
            }
        }
    }
}

fn answer(f: &mut fmt::Formatter<'_>, result: StepResult, out: Option<&Map<String, Json>>) -> fmt::Result {
    write!(f, "{result}")?;
    match out {
        Some(out) => write!(f, " with {}", Object(out)),
        None => Ok(()),
    }
}

/// An object as the recordings write it.
pub(super) struct Object<'a>(pub(super) &'a Map<String, Json>);

impl fmt::Display for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (index, (key, value)) in self.0.iter().enumerate() {
            write!(f, "{}{key:?}: {value}", if index == 0 { "" } else { ", " })?;
        }
        f.write_str("}")
    }
}
