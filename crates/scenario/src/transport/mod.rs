//! How exported handles get from those who export to those who import.
//!
//! | maker | what it carries |
//! | --- | --- |
//! | `outgoing.rs` | what the parent exports, until every worker has it: for the two below |
//! | `descriptors.rs` | file descriptors of the parent, to workers on its host |
//! | `shared_memory.rs` | fabric handles, of the parent or of the workers, on one host |
//! | whoever has an engine for it, such as MPI | fabric handles, between hosts |

mod descriptors;
mod outgoing;
mod shared_memory;

use std::os::fd::OwnedFd;

use peermap_driver::ShareableHandle;
use peermap_ipc::{BarrierError, Deadline, Member, ShmError};
use peermap_report::FailureKind;
use serde::{Deserialize, Serialize};

use descriptors::Descriptors;
pub(crate) use outgoing::Outgoing;
pub(crate) use shared_memory::FabricSlots;
use shared_memory::InSharedMemory;

/// Lets all ranks wait for all.
pub trait Meet {
    /// Waits until all ranks have come here.
    ///
    /// # Errors
    /// [`TransportError`] if one does not come.
    fn meet(&mut self, deadline: Deadline) -> Result<(), TransportError>;
}

/// Brings exported handles to all ranks.
pub trait Transport: Meet {
    /// Hands out what this rank exports, if it does, and gives what was handed out to it, in the order of the ranks.
    ///
    /// # Errors
    /// [`TransportError`] if a handle cannot be carried, or does not come.
    fn exchange(
        &mut self,
        own: Option<&ShareableHandle>,
        deadline: Deadline,
    ) -> Result<Vec<ShareableHandle>, TransportError>;

    /// This rank cannot go on, so nobody must wait for it. Where a parent watches the ranks, it sees to that.
    fn give_up(&mut self, _deadline: Deadline) {}
}

/// Why ranks do not hear from each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// They cannot wait for each other.
    #[error("the barrier failed")]
    Barrier(#[from] BarrierError),
    /// Nothing came.
    #[error("no handles came")]
    NoHandles,
    /// The shared memory cannot be read.
    #[error("the shared handles cannot be read")]
    Memory(#[from] ShmError),
    /// A handle that this way does not carry.
    #[error("{what} cannot be carried {how}")]
    NotCarried {
        /// What it is.
        what: &'static str,
        /// How it should have been carried.
        how: &'static str,
    },
    /// Another rank cannot go on.
    #[error("rank {rank} cannot go on")]
    RankFailed {
        /// The first that said so.
        rank: u32,
    },
    /// Somebody did not come in time.
    #[error("the time is over and not all ranks have come")]
    TimedOut,
    /// The engine failed.
    #[error("{0}")]
    Engine(String),
}

impl TransportError {
    /// What kind of failure it is.
    pub(crate) fn kind(&self) -> FailureKind {
        match self {
            Self::Barrier(BarrierError::MemberDied { .. }) | Self::RankFailed { .. } => FailureKind::WorkerDied,
            Self::Barrier(BarrierError::TimedOut { .. }) | Self::TimedOut => FailureKind::TimedOut,
            _ => FailureKind::Unexpected,
        }
    }
}

/// By what the parent's workers get handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum Carrier {
    /// Descriptors that the parent hands over.
    #[default]
    Descriptors,
    /// Shared memory whose descriptor the parent hands over.
    SharedMemory,
}

impl Carrier {
    /// The way of one worker, whose descriptors these are.
    pub(crate) fn make(
        self,
        descriptors: Vec<OwnedFd>,
        member: Member,
        workers: u32,
    ) -> Result<Box<dyn Transport>, TransportError> {
        Ok(match self {
            Self::Descriptors => Box::new(Descriptors::new(descriptors, member)),
            Self::SharedMemory => Box::new(InSharedMemory::new(descriptors, member, workers)?),
        })
    }
}

impl Meet for Member {
    fn meet(&mut self, deadline: Deadline) -> Result<(), TransportError> {
        Ok(self.wait(deadline)?)
    }
}
