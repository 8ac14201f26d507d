//! How a call ends when it does not succeed.
//!
//! Six ends are values of [`DriverError`] and never mix: the driver refused, the driver would crash, the driver would wait for
//! ever, the simulator does not model what was asked, a check that was asked for found a mistake, the host cannot carry the simulation. A device fault is a refusal of a later, synchronising call. A bug of
//! ours is none of these; it panics.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::argument::Value;
use crate::call::Call;
use crate::result::CuResult;

/// The result of a driver call.
pub type Result<T> = std::result::Result<T, DriverError>;

/// Why a call did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// The driver answered with this code. The simulator adds which rule was broken and by what.
    #[error("{result}{}", Because(explanation.as_deref()))]
    Refused {
        /// What the driver answered.
        result: CuResult,
        /// Why, where the backend can tell: the real driver cannot.
        explanation: Option<Box<Explanation>>,
    },
    /// The real driver would crash the process here: it follows a handle that is gone or was never handed out.
    #[error("the driver would crash this process here ({explanation})")]
    WouldCrash {
        /// Which rule, and which handle.
        explanation: Box<Explanation>,
    },
    /// The real driver would wait for ever here, for something that has not come as long as the simulator waited.
    #[error("the driver would not return from this call ({explanation})")]
    WouldHang {
        /// Which rule, and who or what is missing.
        explanation: Box<Explanation>,
    },
    /// The simulator knows no answer that it could prove. Never a wrong answer instead.
    #[error("not modelled: {what}")]
    NotModelled {
        /// What was asked.
        what: String,
    },
    /// A check of the simulator that was turned on found a mistake in a kernel. The driver would say nothing; the simulation
    /// ends here.
    #[error("a check found a mistake: {what}")]
    Finding {
        /// Where, and what is wrong.
        what: String,
    },
    /// The simulation itself cannot go on: no host memory for simulated memory, or its machine is gone.
    #[error("simulation cannot go on: {what}")]
    Host {
        /// What is missing.
        what: String,
    },
}

impl DriverError {
    /// A refusal without an explanation, as the real driver gives it.
    #[must_use]
    pub const fn refused(result: CuResult) -> Self {
        Self::Refused { result, explanation: None }
    }

    /// The driver's code, if it was the driver that refused.
    #[must_use]
    pub const fn result(&self) -> Option<CuResult> {
        match self {
            Self::Refused { result, .. } => Some(*result),
            Self::WouldCrash { .. }
            | Self::WouldHang { .. }
            | Self::NotModelled { .. }
            | Self::Finding { .. }
            | Self::Host { .. } => None,
        }
    }

    /// The rule that was broken, if the backend can tell.
    #[must_use]
    pub fn rule(&self) -> Option<RuleId> {
        self.explanation().map(|explanation| explanation.rule)
    }

    /// The explanation, if the backend has one.
    #[must_use]
    pub fn explanation(&self) -> Option<&Explanation> {
        match self {
            Self::Refused { explanation, .. } => explanation.as_deref(),
            Self::WouldCrash { explanation } | Self::WouldHang { explanation } => Some(explanation),
            Self::NotModelled { .. } | Self::Finding { .. } | Self::Host { .. } => None,
        }
    }
}

struct Because<'a>(Option<&'a Explanation>);

impl fmt::Display for Because<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(explanation) => write!(f, " ({explanation})"),
            None => Ok(()),
        }
    }
}

/// The name of a rule of the driver's behaviour, such as `MAP-3`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub &'static str);

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// One call of one process: where something was made or done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct CallSite {
    /// The simulated process, numbered by the machine in the order of arrival.
    pub process: u32,
    /// The number of the call in that process, counted from 1.
    pub number: u64,
    /// Which call it was.
    pub call: Call,
}

impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (call {} of process {})", self.call, self.number, self.process)
    }
}

/// Why the simulator refused a call: which rule, what stood against it, and where that came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The rule that was broken.
    pub rule: RuleId,
    /// The rule in a sentence.
    pub sentence: &'static str,
    /// The values that decided, with their names.
    pub facts: Vec<(&'static str, Value)>,
    /// The earlier call that this one collides with.
    pub earlier: Option<CallSite>,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.sentence)?;
        for (index, (name, value)) in self.facts.iter().enumerate() {
            write!(f, "{} {name} {value}", if index == 0 { ";" } else { "," })?;
        }
        match &self.earlier {
            Some(site) => write!(f, "; see {site}"),
            None => Ok(()),
        }
    }
}

/// An error with what caused it. Many say their cause themselves; what the one before said already is not said again.
#[must_use]
pub fn with_causes(error: &dyn Error) -> String {
    let mut before = error.to_string();
    let mut text = before.clone();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !before.contains(&next) {
            text = format!("{text}: {next}");
            before = next;
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_rule_values_and_the_earlier_call() {
        let error = DriverError::Refused {
            result: CuResult::INVALID_VALUE,
            explanation: Some(Box::new(Explanation {
                rule: RuleId("MAP-7"),
                sentence: "a mapping may not overlap another",
                facts: vec![("ptr", Value::Address(0x20_0000)), ("size", Value::Bytes(4 << 20))],
                earlier: Some(CallSite { process: 1, number: 9, call: Call::cuMemMap }),
            })),
        };
        assert_eq!(
            error.to_string(),
            "CUDA_ERROR_INVALID_VALUE (MAP-7: a mapping may not overlap another; ptr 0x200000, size 4 MiB; \
             see cuMemMap (call 9 of process 1))"
        );
        assert_eq!(error.result(), Some(CuResult::INVALID_VALUE));
    }

    #[test]
    fn what_is_not_modelled_has_no_result() {
        assert_eq!(DriverError::NotModelled { what: "a cubin".to_owned() }.result(), None);
    }

    #[derive(Debug, thiserror::Error)]
    #[error("the machine cannot be reached: {0}; is it there?")]
    struct Telling(#[from] fmt::Error);

    #[derive(Debug, thiserror::Error)]
    #[error("no process")]
    struct Silent(#[source] Telling);

    #[test]
    fn a_cause_that_was_told_is_not_told_again() {
        let told = fmt::Error.to_string();
        let text = with_causes(&Silent(Telling(fmt::Error)));
        assert_eq!(text, format!("no process: the machine cannot be reached: {told}; is it there?"));
        assert_eq!(with_causes(&fmt::Error), told);
    }
}
