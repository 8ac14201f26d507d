//! Why a group gives no samples.

use peermap_driver::{CuResult, DriverError};
use peermap_ipc::{Exit, IpcError};
use peermap_report::Failure;

/// Why a group gives no samples.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A call of the driver failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A message did not get through.
    #[error(transparent)]
    Ipc(#[from] IpcError),
    /// A process that was needed has ended.
    #[error("{who} (pid {pid}) has ended: {how}")]
    Died {
        /// Which.
        who: &'static str,
        /// Its number.
        pid: u32,
        /// How it ended.
        how: Exit,
    },
    /// A run of a scenario failed.
    #[error("the run failed: {0}")]
    Run(String),
    /// What the group needs is not there; this is no failure.
    #[error("{0}")]
    NotHere(String),
}

impl BenchError {
    /// Whether it only says that this machine lacks something, so that the group is skipped and nothing has failed.
    #[must_use]
    pub fn is_lack(&self) -> bool {
        match self {
            Self::NotHere(_) => true,
            Self::Driver(DriverError::NotModelled { .. }) => true,
            Self::Driver(error) => {
                matches!(error.result(), Some(CuResult::NOT_SUPPORTED | CuResult::OUT_OF_MEMORY))
            }
            Self::Ipc(_) | Self::Died { .. } | Self::Run(_) => false,
        }
    }
}

impl From<Failure> for BenchError {
    fn from(failure: Failure) -> Self {
        Self::Run(failure.message)
    }
}
