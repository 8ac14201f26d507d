//! What an access wants, and how it can fail.

use nix::errno::Errno;
use thiserror::Error;

use crate::HostMemory;

/// What an access does to the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Bytes are read.
    Read,
    /// Bytes are written.
    Write,
    /// Bytes are read and written, as atomic operations do.
    ReadWrite,
}

/// A device address that cannot be accessed.
///
/// # Errors
///
/// `address` is the first byte that could not be accessed: the start of the access, or the start of a later granule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("device address {address:#x}: {kind}")]
pub struct Fault {
    /// The first faulting byte.
    pub address: u64,
    /// What is wrong there.
    pub kind: FaultKind,
}

/// Why a device address cannot be accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FaultKind {
    /// Nothing is mapped there.
    #[error("not mapped")]
    NotMapped,
    /// Something is mapped there, without the right to read.
    #[error("mapped without read access")]
    NoReadAccess,
    /// Something is mapped there, without the right to write.
    #[error("mapped without write access")]
    NoWriteAccess,
    /// Atomic operations, and all accesses of kernels, need an address that is a multiple of their size.
    #[error("not a multiple of the {bytes} bytes of the access")]
    Misaligned {
        /// The size of the access.
        bytes: u64,
    },
    /// A multicast address, which stands for several places. Stores go to all of them; nothing else that is not made for
    /// multicast has a meaning there.
    #[error("a multicast address, which only multimem instructions may read")]
    Multicast,
    /// A multicast address where a device of the team has no memory.
    #[error("a multicast address where device {device} of the team has no memory bound")]
    Unbound {
        /// The device, by its number in the machine.
        device: u16,
    },
    /// The first write to a granule would take more host memory than the budget allows.
    #[error(transparent)]
    HostMemory(HostMemory),
    /// The kernel refused to map the arena into this OS process.
    #[error("cannot map the arena into host address space: {0}")]
    HostMapping(Errno),
}
