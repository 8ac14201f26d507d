//! What a recording says, what the driver said, and whether they are the same.

use std::fmt;
use std::time::Duration;

use nix::sys::signal::Signal;
use peermap_driver::{DriverError, Explanation, with_causes};
use peermap_ipc::{Exit, IpcError};
use serde_json::{Map, Value as Json};

use super::error::{DiedAtStart, Failure, PlayError};
use super::reason::Reason;
use crate::call::StepCall;
use crate::format::Step;
use crate::result::StepResult;
use crate::write::object_text;

/// What a recording says of a step.
#[derive(Clone, PartialEq, Debug)]
pub struct Expected {
    /// How it ended.
    pub result: StepResult,
    /// What it returned.
    pub out: Option<Map<String, Json>>,
}

impl From<&Step> for Expected {
    fn from(step: &Step) -> Self {
        Self { result: step.result, out: step.out.clone() }
    }
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
        reason: Option<Box<Reason>>,
    },
    /// The real driver would crash the process here, and the process ended.
    WouldCrash(Box<Reason>),
    /// The real driver would not return from the call, and the process ended.
    WouldHang(Box<Reason>),
    /// The real driver crashed the process.
    Crashed(Signal),
    /// The process did not answer in time and was killed.
    TimedOut {
        /// How long the step may take.
        limit: Duration,
    },
    /// The process ended during the step for a reason that is not the driver's.
    Died(Exit),
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
        match answered {
            Ok(out) => Self::Answer { result: StepResult::success_of(call), out, reason: None },
            Err(failure) => failure.into(),
        }
    }

    /// How the step ended, in the words of the format. `None`: there is no answer that a recording could hold.
    #[must_use]
    pub fn result(&self) -> Option<StepResult> {
        match self {
            Self::Answer { result, .. } => Some(*result),
            Self::WouldCrash(_) => Some(StepResult::SegmentationFault),
            Self::Crashed(signal) => Some(StepResult::from_signal(*signal)),
            Self::WouldHang(_) | Self::TimedOut { .. } => Some(StepResult::TimedOut),
            Self::Died(_) | Self::NotModelled { .. } | Self::Host { .. } | Self::NotPlayed(_) => None,
        }
    }

    /// What the step returned, where that can be compared.
    #[must_use]
    pub fn out(&self) -> Option<&Map<String, Json>> {
        match self {
            Self::Answer { out, .. } => out.as_ref(),
            _ => None,
        }
    }

    /// Why the backend refused, where it can tell.
    #[must_use]
    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Self::Answer { reason, .. } => reason.as_deref(),
            Self::WouldCrash(reason) | Self::WouldHang(reason) => Some(reason),
            _ => None,
        }
    }

    /// Why there is no answer, in words.
    #[must_use]
    pub fn complaint(&self) -> Option<String> {
        match self {
            Self::Died(exit) => Some(format!("the process ended during the step: {exit}")),
            Self::NotModelled { what } => Some(format!("the backend does not model {what}")),
            Self::Host { what } => Some(format!("the backend cannot go on, {what}")),
            Self::NotPlayed(error) => Some(with_causes(error)),
            Self::Answer { .. }
            | Self::WouldCrash(_)
            | Self::WouldHang(_)
            | Self::Crashed(_)
            | Self::TimedOut { .. } => None,
        }
    }

    /// Whether this is what the recording says: the same result and the same returned values, all of them.
    ///
    /// Where the driver crashed, a backend that does not crash must name the rule for handles that are gone or made up.
    #[must_use]
    pub fn matches(&self, expected: &Expected) -> bool {
        let is_same = self.result() == Some(expected.result) && self.out() == expected.out.as_ref();
        match self {
            Self::WouldCrash(reason) => is_same && reason.is_about_a_handle(),
            _ => is_same,
        }
    }

    /// Whether there is no answer because a process died, or did not start in time: no answer of the backend then.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        match self {
            Self::Died(_) => true,
            Self::NotPlayed(PlayError::Start { source, .. }) => {
                source.is::<DiedAtStart>() || matches!(source.downcast_ref(), Some(IpcError::TimedOut))
            }
            _ => false,
        }
    }

    /// Whether the process of the step is gone.
    pub(super) fn ends_the_process(&self) -> bool {
        matches!(
            self,
            Self::WouldCrash(_) | Self::WouldHang(_) | Self::Crashed(_) | Self::TimedOut { .. } | Self::Died(_)
        )
    }
}

impl From<Failure> for Got {
    fn from(failure: Failure) -> Self {
        let refused = |result, reason| Self::Answer { result, out: None, reason };
        let reason = |explanation: Box<Explanation>| Box::new(Reason::from(*explanation));
        match failure {
            Failure::Os(errno) => refused(StepResult::Errno(errno), None),
            Failure::Play(error) => Self::NotPlayed(error),
            Failure::Driver(DriverError::Refused { result, explanation }) => {
                refused(StepResult::Cuda(result), explanation.map(reason))
            }
            Failure::Driver(DriverError::WouldCrash { explanation }) => Self::WouldCrash(reason(explanation)),
            Failure::Driver(DriverError::WouldHang { explanation }) => Self::WouldHang(reason(explanation)),
            Failure::Driver(DriverError::NotModelled { what }) => Self::NotModelled { what },
            // A replay has no checks turned on; whoever did so gets to know what was found.
            Failure::Driver(DriverError::Finding { what } | DriverError::Host { what }) => Self::Host { what },
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
        match (self.result(), self.complaint()) {
            (Some(result), _) => answer(f, result, self.out())?,
            (None, complaint) => write!(f, "no answer: {}", complaint.unwrap_or_default())?,
        }
        match (self, self.reason()) {
            (Self::TimedOut { limit }, _) => write!(f, " (no answer within {} s)", limit.as_secs_f64()),
            (_, Some(reason)) => write!(f, " ({reason})"),
            (_, None) => Ok(()),
        }
    }
}

fn answer(f: &mut fmt::Formatter<'_>, result: StepResult, out: Option<&Map<String, Json>>) -> fmt::Result {
    write!(f, "{result}")?;
    match out {
        Some(out) => write!(f, " with {}", object_text(out)),
        None => Ok(()),
    }
}
