//! What is wrong if an entry does not go as it must.

use peermap_driver::DriverError;
use peermap_ipc::{BarrierError, ChildError, IpcError, LimitError, ShmError};
use peermap_model::ProfileError;
use peermap_sim::SimError;

/// Why an entry ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// A call was answered differently.
    #[error("{step}: expected {expected}, got {found}")]
    Answer {
        /// What was tried.
        step: &'static str,
        /// What it must answer.
        expected: String,
        /// What it answered.
        found: String,
    },
    /// Something is not what it must be.
    #[error("{what}: expected {expected}, found {found}")]
    Value {
        /// What.
        what: &'static str,
        /// What it must be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// This machine cannot show the entry.
    #[error("not here: {0}")]
    NotHere(String),
    /// A call failed that must not.
    #[error("a driver call failed: {0}")]
    Driver(#[from] DriverError),
    /// There is no driver.
    #[error("there is no driver: {0}")]
    NoDriver(String),
    /// A simulated machine could not be made.
    #[error(transparent)]
    Simulator(#[from] SimError),
    /// There is no such simulated machine.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A channel failed that must not.
    #[error("a channel failed: {0}")]
    Ipc(#[from] IpcError),
    /// A barrier failed that must not.
    #[error("a barrier failed: {0}")]
    Barrier(#[from] BarrierError),
    /// Shared memory failed that must not.
    #[error("shared memory failed: {0}")]
    Shared(#[from] ShmError),
    /// A process could not be started, or did not end.
    #[error("a process failed: {0}")]
    Child(#[from] ChildError),
    /// A limit could not be read.
    #[error("a limit cannot be read: {0}")]
    Limit(#[from] LimitError),
    /// A system call failed that must not.
    #[error("{call} failed: {source}")]
    System {
        /// The call.
        call: &'static str,
        /// What the operating system said.
        source: std::io::Error,
    },
}

impl Trouble {
    /// What the operating system said to a call.
    pub(crate) fn system<E: Into<std::io::Error>>(call: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { call, source: source.into() }
    }

    /// This machine cannot show the entry.
    pub(crate) fn not_here(why: impl Into<String>) -> Self {
        Self::NotHere(why.into())
    }
}
