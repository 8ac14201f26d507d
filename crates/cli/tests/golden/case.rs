//! A program, how it is launched, and what it must do.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

/// A launch with its outcome.
pub(crate) struct Case {
    /// The folder and the name of the program.
    pub(crate) name: String,
    /// The program.
    pub(crate) file: PathBuf,
    /// The kernel.
    pub(crate) entry: String,
    /// Blocks, as the command reads them.
    pub(crate) grid: String,
    /// Threads of a block, as the command reads them.
    pub(crate) block: String,
    /// Bytes of dynamic shared memory.
    pub(crate) shared: u64,
    /// Seconds that the kernel may run.
    pub(crate) deadline: Option<u64>,
    /// The arguments of the kernel.
    pub(crate) arguments: Vec<Argument>,
    /// Lines that it prints, in any order.
    pub(crate) prints: Vec<String>,
    /// What checks find of a mistake that shows in no other way.
    pub(crate) finds: Option<String>,
    /// What must come of it.
    pub(crate) expected: Expected,
}

/// An argument of a kernel.
pub(crate) enum Argument {
    /// As the command reads it.
    Text(String),
    /// A buffer with these bytes.
    Bytes(Vec<u8>),
}

/// What must come of a launch.
pub(crate) enum Expected {
    /// Buffers, by the number of their argument, hold these bytes.
    Buffers(BTreeMap<usize, Vec<u8>>),
    /// The kernel faults.
    Fault(Fault),
    /// The simulator does not run it, and says why.
    NotModelled(NotModelled),
}

/// How a kernel faults.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    /// What the driver answers.
    pub(crate) result: String,
    /// The block, where the simulator names it.
    pub(crate) block: Option<[u32; 3]>,
    /// The thread, where the simulator names it.
    pub(crate) thread: Option<[u32; 3]>,
    /// The line of the PTX, where the simulator names it.
    pub(crate) line: Option<u32>,
}

/// What is not modelled.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotModelled {
    /// The line of the PTX.
    pub(crate) line: u32,
    /// What stands there.
    pub(crate) name: String,
}

impl Case {
    /// Whether the kernel runs to its end.
    pub(crate) const fn ends_well(&self) -> bool {
        matches!(self.expected, Expected::Buffers(_))
    }

    /// What the simulator does not model, hardware may run with any result.
    pub(crate) const fn means_something_on_hardware(&self) -> bool {
        !matches!(self.expected, Expected::NotModelled(_))
    }
}

impl Fault {
    /// What the simulator says besides the result.
    pub(crate) fn explanation(&self) -> Vec<String> {
        let block = self.block.map(|block| format!("block {block:?}"));
        let thread = self.thread.map(|thread| format!("thread {thread:?}"));
        let line = self.line.map(|line| format!("line {line} of the PTX"));
        [block, thread, line].into_iter().flatten().collect()
    }
}
