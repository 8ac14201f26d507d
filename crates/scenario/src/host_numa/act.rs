//! What is done, by whom.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a worker does with memory of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Act {
    /// The CPU writes.
    CpuWrite,
    /// The CPU reads.
    CpuRead,
    /// A kernel writes.
    KernelWrite,
    /// A kernel reads.
    KernelRead,
}

impl Act {
    /// Whether it writes.
    pub(super) const fn writes(self) -> bool {
        matches!(self, Self::CpuWrite | Self::KernelWrite)
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CpuWrite => "cpu write",
            Self::CpuRead => "cpu read",
            Self::KernelWrite => "kernel write",
            Self::KernelRead => "kernel read",
        })
    }
}
