//! Version 1 of the format, as types.
//!
//! A trace is a header and steps. In JSON Lines a line with the key `trace` opens a trace; the lines after it, up to
//! the next such line, are its steps in the order in which they were played.

use std::fmt;

use serde_json::{Map, Value};

use crate::call::StepCall;
use crate::result::StepResult;
use crate::write::object_text;

/// The version of the format that this crate reads: the value of the key `trace`.
pub const FORMAT_VERSION: u32 = 1;

/// A trace: what was called, in which order, and what was answered.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    /// What it is and where it comes from.
    pub header: Header,
    /// The line of the header.
    pub line: u64,
    /// The calls of all processes, in the order in which they were made.
    pub steps: Vec<Step>,
}

/// The first line of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// What the trace is called.
    pub name: String,
    /// What it shows, in words.
    pub about: String,
    /// Where it was recorded.
    pub machine: Machine,
    /// What it takes to play it.
    pub needs: Needs,
}

impl Header {
    /// How many devices the processes of the trace are to see where there are `there`: as many as where it was recorded.
    /// What a driver takes for itself, for one, depends on it.
    #[must_use]
    pub fn devices_to_see(&self, there: u32) -> u32 {
        self.machine.gpus.max(self.needs.devices).min(there)
    }
}

/// The machine that a trace was recorded on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// How many devices it had.
    pub gpus: u32,
    /// What its devices are called.
    pub model: String,
    /// The version of its driver.
    pub driver: String,
    /// The version of CUDA that the driver supports, such as 13000.
    pub cuda: u32,
    /// How its devices are connected, if there is more than one.
    pub link: Option<String>,
}

/// What a trace can be played on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needs {
    /// The least number of devices.
    pub devices: u32,
}

/// One call of one process, and its answer.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// The process that makes the call (`p`). It starts at its first step.
    pub process: u32,
    /// What it calls (`call`).
    pub call: StepCall,
    /// The arguments by name (`in`).
    pub arguments: Map<String, Value>,
    /// The name that the returned value gets if the call succeeds (`as`). Names are unique in a trace.
    pub name: Option<String>,
    /// How the call ended (`result`).
    pub result: StepResult,
    /// What it returned, where that can be compared (`out`).
    pub out: Option<Map<String, Value>>,
    /// The line of the step.
    pub line: u64,
}

impl fmt::Display for Step {
    /// The call with its arguments, as they are written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.call, object_text(&self.arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_sees_what_was_there_what_it_needs_and_no_more_than_there_is() {
        for (gpus, needed, there, seen) in
            [(1, 1, 8, 1), (2, 1, 8, 2), (1, 2, 8, 2), (2, 1, 1, 1), (8, 2, 4, 4), (0, 1, 2, 1)]
        {
            let machine = Machine { gpus, model: String::new(), driver: String::new(), cuda: 13_000, link: None };
            let header =
                Header { name: String::new(), about: String::new(), machine, needs: Needs { devices: needed } };
            assert_eq!(header.devices_to_see(there), seen, "{gpus} {needed} {there}");
        }
    }
}
