//! What checks find.

use std::fmt;
use std::ops::Range;

use thiserror::Error;

use crate::check::Check;
use crate::error::{Line, verb};
use crate::window::Window;
use peermap_memory::Access;

/// A thread of a launch and what it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// The block in the grid.
    pub block: [u32; 3],
    /// The thread in the block.
    pub thread: [u32; 3],
    /// The instruction.
    pub line: Line,
}

impl fmt::Display for Party {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "block {:?}, thread {:?}, {}", self.block, self.thread, self.line)
    }
}

/// Who wrote what is read by another address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writer {
    /// A thread of the same launch.
    Here(Party),
    /// A thread of a launch that had not ended when the reader's began.
    Elsewhere {
        /// The other launch.
        kernel: String,
        /// The thread in it.
        party: Party,
    },
    /// The driver itself, which copied or set bytes after the reader's launch had begun.
    Copy,
}

impl fmt::Display for Writer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here(party) => party.fmt(formatter),
            Self::Elsewhere { kernel, party } => {
                write!(formatter, "kernel {kernel:?}, which had not ended when this one began, {party},")
            }
            Self::Copy => formatter.write_str("a copy or a memset that came after this launch had begun"),
        }
    }
}

/// A mistake that a check found. Where, and in which thread, is told by the [`Stop`](crate::Stop) that has it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Finding {
    /// Memory is read that was never written.
    #[error("{} at {address:#x}, which nothing has ever written", verb(*access))]
    Uninitialised {
        /// The first byte of the access that was never written.
        address: u64,
        /// What the access does.
        access: Access,
    },
    /// Two threads write one byte and nothing orders them.
    #[error("write at {address:#x}{}, where {other} wrote before, with nothing to order the two", of_block(*shared))]
    Race {
        /// The first byte that both write; in shared memory that of the block.
        address: u64,
        /// Whether it is shared memory of the block.
        shared: bool,
        /// Who wrote before.
        other: Party,
    },
    /// Memory is read by another address than it was written by, without `fence.proxy.alias` in between.
    #[error(
        "{} at {address:#x} of what {writer} wrote at {written:#x}, another address of the same memory, \
         without fence.proxy.alias in between",
        verb(*access)
    )]
    Alias {
        /// The first byte that is read.
        address: u64,
        /// What the access does.
        access: Access,
        /// The address that it was written by.
        written: u64,
        /// Who wrote it.
        writer: Writer,
    },
    /// An access leaves the buffer that its address was computed from.
    #[error(
        "{} at {address:#x}, outside the {} bytes from {:#x} on, the buffer of argument {argument} ({pointer:#x}), in {}",
        verb(*access), buffer.end - buffer.start, buffer.start, neighbour(hit.as_ref())
    )]
    OutOfBounds {
        /// The first byte of the access.
        address: u64,
        /// What the access does.
        access: Access,
        /// The argument of the launch that the address was computed from, counted from 0.
        argument: usize,
        /// Its value, or that of the pointer in it.
        pointer: u64,
        /// The addresses of the buffer that it points into.
        buffer: Range<u64>,
        /// Those of the buffer that is hit, where that is known.
        hit: Option<Range<u64>>,
    },
    /// An access leaves what a kernel asked for of a space of its own, where the hardware does not notice.
    #[error("{} at {address:#x}, outside the {} bytes from {:#x} on of the {}",
        verb(*access), there.end - there.start, there.start, of_space(*window))]
    OutOfSpace {
        /// The first byte of the access, counted in the space.
        address: u64,
        /// What the access does.
        access: Access,
        /// The window of the space; none is constant memory.
        window: Option<Window>,
        /// What there is.
        there: Range<u64>,
    },
}

impl Finding {
    /// The check that found it.
    #[must_use]
    pub const fn check(&self) -> Check {
        match self {
            Self::Uninitialised { .. } => Check::Uninitialised,
            Self::Race { .. } => Check::Races,
            Self::Alias { .. } => Check::Aliases,
            Self::OutOfBounds { .. } | Self::OutOfSpace { .. } => Check::Bounds,
        }
    }
}

const fn of_block(shared: bool) -> &'static str {
    if shared { " of shared memory" } else { "" }
}

fn of_space(window: Option<Window>) -> String {
    window.map_or_else(|| "constant memory of the module".to_owned(), |window| window.to_string())
}

fn neighbour(hit: Option<&Range<u64>>) -> String {
    hit.map_or_else(
        || "other memory".to_owned(),
        |hit| format!("the {} bytes from {:#x} on", hit.end - hit.start, hit.start),
    )
}
