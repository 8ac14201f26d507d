//! What is known of a driver call.

use serde::{Deserialize, Serialize};

/// The driver calls of one process, in the order in which they began.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessCalls {
    /// The process.
    pub pid: u32,
    /// What it was in the run, such as `worker 0 (device 0)`.
    pub name: String,
    /// Its calls.
    pub calls: Vec<CallRecord>,
    /// Set if some or all of its calls are not known.
    pub lost: Option<LostCalls>,
}

/// Calls that a process took with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostCalls {
    /// When that was noticed, in nanoseconds on the clock of the calls.
    pub at_ns: u64,
    /// How the process ended.
    pub how: String,
}

/// One driver call.
///
/// # Units
/// Nanoseconds. The start counts from a moment that all processes of the host share.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallRecord {
    /// CUDA's name: `cuMemMap`.
    pub call: String,
    /// The thread that made it.
    pub thread: u32,
    /// When it began.
    pub start_ns: u64,
    /// How long it took.
    pub duration_ns: u64,
    /// Its arguments by name, in their order.
    pub arguments: Vec<(String, Argument)>,
    /// Why it did not succeed, if it did not.
    pub error: Option<CallError>,
}

/// Why a call did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallError {
    /// What the driver answered, by CUDA's name, if it answered.
    pub result: Option<String>,
    /// The rule that was broken, if the backend can tell.
    pub rule: Option<String>,
    /// What happened, in words.
    pub message: String,
}

/// An argument of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Argument {
    /// A number; sizes are in bytes.
    Number(i128),
    /// An address or a handle. It is shown as text: readers take numbers for floating-point ones, which are not exact where
    /// addresses are.
    Hex(u64),
    /// A name.
    Text(String),
    /// Several values.
    List(Vec<Argument>),
    /// Several values with names.
    Fields(Vec<(String, Argument)>),
    /// No value.
    None,
}
