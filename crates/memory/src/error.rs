//! What can go wrong when memory is set up or given back.

use std::fmt;

use nix::errno::Errno;
use thiserror::Error;

/// The piece of memory that an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The page with the host memory budget.
    Budget,
    /// The bytes of an arena.
    Bytes,
    /// The record of an arena's written granules.
    Written,
    /// The record of an arena's written bytes.
    Marks,
    /// The page table of a simulated process.
    Table,
    /// What multicast addresses stand for.
    Switches,
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Budget => "the memory budget",
            Self::Bytes => "an arena's bytes",
            Self::Written => "an arena's written granules",
            Self::Marks => "an arena's written bytes",
            Self::Table => "a page table",
            Self::Switches => "the switches",
        })
    }
}

/// Memory could not be set up or given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MemoryError {
    /// The kernel refused to make a memory file.
    #[error("cannot make a memory file of {bytes} bytes for {part}")]
    Create {
        /// What the file was for.
        part: Part,
        /// Its size.
        bytes: u64,
        /// The kernel's answer.
        source: Errno,
    },
    /// The kernel refused a mapping.
    #[error("cannot map {bytes} bytes for {part}; is the address space limited (ulimit -v)?")]
    Map {
        /// What the mapping was for.
        part: Part,
        /// Its size.
        bytes: u64,
        /// The kernel's answer.
        source: Errno,
    },
    /// A received descriptor could not be examined.
    #[error("the descriptor for {part} is not a memory file")]
    Inspect {
        /// What the descriptor was for.
        part: Part,
        /// The kernel's answer.
        source: Errno,
    },
    /// A received memory file could still be resized by its sender, who could so make an access here end in a bus
    /// error.
    #[error(
        "the memory file for {part} is not sealed against a change of size; pass a descriptor that this library made"
    )]
    Unsealed {
        /// What the descriptor was for.
        part: Part,
    },
    /// A received memory file has the wrong size.
    #[error("the memory file for {part} has {bytes} bytes where {expected} belong; were descriptors exchanged?")]
    WrongSize {
        /// What the descriptor was for.
        part: Part,
        /// The size of the file.
        bytes: u64,
        /// The size that it should have.
        expected: u64,
    },
    /// The granule size cannot be used.
    #[error("a granule of {granule_bytes} bytes is not a power of two of at least 4096")]
    Granule {
        /// The size asked for.
        granule_bytes: u64,
    },
    /// A size or base is zero, too large, or not a whole number of granules.
    #[error(
        "{bytes} bytes at {base:#x} for {part} are not between one and 2^40 whole granules of {granule_bytes} bytes"
    )]
    Size {
        /// What the size was for.
        part: Part,
        /// The first address; zero for what has no address.
        base: u64,
        /// The size asked for.
        bytes: u64,
        /// The granule size.
        granule_bytes: u64,
    },
    /// The kernel refused even the smallest window of device addresses.
    #[error("cannot reserve {bytes} bytes of address space for device addresses; is it limited (ulimit -v)?")]
    Window {
        /// The smallest size that was tried.
        bytes: u64,
        /// The kernel's answer to that size.
        source: Errno,
    },
    /// The kernel refused to take pages of an arena back. Nothing was credited to the budget.
    #[error("cannot give back {bytes} bytes at offset {offset:#x} of arena {arena}")]
    Discard {
        /// The arena's index.
        arena: u8,
        /// The first byte.
        offset: u64,
        /// The number of bytes.
        bytes: u64,
        /// The kernel's answer.
        source: Errno,
    },
}
