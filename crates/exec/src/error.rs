//! How compilation and execution fail.

use std::fmt;
use std::time::Duration;

use peermap_memory::{Access, FaultKind};
use thiserror::Error;

use crate::check::Finding;
use crate::window::Window;

/// Why an entry cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CompileError {
    /// Something of the language that is not covered.
    #[error("line {line}: {what} is not modelled")]
    NotModelled {
        /// Where it stands in the PTX.
        line: u32,
        /// What it is.
        what: String,
    },
    /// The compiler refused the code that was made: an error of this crate.
    #[error("the compiler failed: {0}")]
    Compiler(String),
}

/// Where an instruction stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The line in the PTX.
    pub ptx: u32,
    /// The file and line that `.loc` names, if there is one.
    pub source: Option<(String, u32)>,
}

impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some((file, line)) => write!(formatter, "{file}:{line} (line {} of the PTX)", self.ptx),
            None => write!(formatter, "line {} of the PTX", self.ptx),
        }
    }
}

/// Why a launch ended before its time, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("kernel {kernel:?}, block {block:?}, thread {thread:?}, {line}: {cause}")]
pub struct Stop {
    /// The entry.
    pub kernel: String,
    /// The block in the grid.
    pub block: [u32; 3],
    /// The thread in the block; of several, the first.
    pub thread: [u32; 3],
    /// The instruction.
    pub line: Line,
    /// What happened.
    pub cause: Cause,
}

/// What ended a launch.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Cause {
    /// An address that could not be accessed.
    #[error("{} at {address:#x}: {kind}", verb(*access))]
    Memory {
        /// The first byte that could not be accessed.
        address: u64,
        /// What was tried.
        access: Access,
        /// What is wrong there.
        kind: FaultKind,
    },
    /// An address in a window of memory that a block or a thread has for itself, outside what there is.
    #[error("{} at {address:#x}, outside the {bytes} bytes from {start:#x} on of the {window}",
        verb(*access), start = window.start())]
    Outside {
        /// The window.
        window: Window,
        /// The first byte that is outside, counted in the window.
        address: u64,
        /// How much the kernel asked for.
        bytes: u64,
        /// What was tried.
        access: Access,
        /// Whether the address was a generic one.
        generic: bool,
    },
    /// An address of a window where the instruction says that it is one of device memory.
    #[error("{} at {address:#x}, an address of the {window}, by an instruction for global memory", verb(*access))]
    WrongSpace {
        /// The address.
        address: u64,
        /// The window that it is in.
        window: Window,
        /// What was tried.
        access: Access,
    },
    /// An assertion did not hold.
    #[error("{file}:{line}: {function}: assertion `{message}` failed")]
    Assertion {
        /// What did not hold.
        message: String,
        /// The file that it is in.
        file: String,
        /// The line there.
        line: u32,
        /// The function.
        function: String,
    },
    /// `trap`.
    #[error("a trap")]
    Trap,
    /// The kernel ran for longer than it may.
    #[error("still running after {most:?}{}", waited_on(*polled))]
    Deadline {
        /// How long it may run.
        most: Duration,
        /// The address that the thread read last in a way that lets it wait for others.
        polled: Option<u64>,
    },
    /// Threads wait for threads that cannot come any more.
    #[error("the block cannot go on: {0}")]
    Stuck(String),
    /// A check found a mistake that the hardware would not tell.
    #[error(transparent)]
    Finding(Box<Finding>),
    /// Something that is not covered, which shows only when it runs.
    #[error("{0} is not modelled")]
    NotModelled(String),
}

impl Cause {
    /// The address that could not be accessed, where that is what happened: a generic one, if the instruction had one.
    #[must_use]
    pub const fn address(&self) -> Option<u64> {
        match self {
            Self::Memory { address, .. } | Self::WrongSpace { address, .. } => Some(*address),
            Self::Outside { window, address, generic: true, .. } => Some(window.base() + *address),
            Self::Outside { address, .. } => Some(*address),
            Self::Assertion { .. }
            | Self::Trap
            | Self::Deadline { .. }
            | Self::Stuck(_)
            | Self::Finding(_)
            | Self::NotModelled(_) => None,
        }
    }
}

fn waited_on(polled: Option<u64>) -> String {
    polled.map_or_else(String::new, |address| format!("; it waits for a change at {address:#x}"))
}

pub(crate) fn verb(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::ReadWrite => "atomic operation",
    }
}
