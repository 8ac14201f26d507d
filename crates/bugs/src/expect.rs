//! What was to be.

use std::fmt::Debug;

use peermap_driver::{Call, DriverError, Explanation};
use peermap_model::Rule;

use crate::trouble::Trouble;

/// Two values must be the same.
pub(crate) fn same<T: PartialEq + Debug>(what: &'static str, found: T, expected: T) -> Result<(), Trouble> {
    if found == expected {
        return Ok(());
    }
    Err(Trouble::Value { what, expected: format!("{expected:?}"), found: format!("{found:?}") })
}

/// Two values must differ.
pub(crate) fn differ<T: PartialEq + Debug>(what: &'static str, found: T, other: T) -> Result<(), Trouble> {
    if found != other {
        return Ok(());
    }
    Err(Trouble::Value { what, expected: format!("anything but {other:?}"), found: format!("{found:?}") })
}

/// Something must hold; `found` says what is there instead.
pub(crate) fn holds(what: &'static str, holds: bool, found: impl Debug) -> Result<(), Trouble> {
    if holds {
        return Ok(());
    }
    Err(Trouble::Value { what, expected: "that it holds".to_owned(), found: format!("{found:?}") })
}

/// A call was refused as it must be.
pub(crate) struct Refused {
    explanation: Option<Explanation>,
}

/// A call must be refused with the code of a rule; the simulator must say that it was this rule.
pub(crate) fn refused<T: Debug>(
    step: &'static str,
    answer: Result<T, DriverError>,
    rule: &Rule,
) -> Result<Refused, Trouble> {
    let expected = || format!("{} by {}", rule.result, rule.id);
    match answer {
        Ok(given) => Err(Trouble::Answer { step, expected: expected(), found: format!("{given:?}") }),
        Err(error) if error.result() != Some(rule.result) || error.rule().is_some_and(|found| found != rule.id) => {
            Err(Trouble::Answer { step, expected: expected(), found: error.to_string() })
        }
        Err(error) => Ok(Refused { explanation: error.explanation().cloned() }),
    }
}

impl Refused {
    /// The simulator must name the earlier call that this one collides with.
    pub(crate) fn naming(self, call: Call) -> Result<(), Trouble> {
        match self.explanation {
            Some(explanation) => names(&explanation, call),
            None => Ok(()),
        }
    }
}

/// An explanation must name the earlier call.
pub(crate) fn names(explanation: &Explanation, call: Call) -> Result<(), Trouble> {
    if explanation.earlier.is_some_and(|site| site.call == call) {
        return Ok(());
    }
    Err(Trouble::Value { what: "the other side", expected: call.to_string(), found: explanation.to_string() })
}
