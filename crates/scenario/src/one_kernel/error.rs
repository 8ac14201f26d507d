//! Why a launch gave no result.

use std::io;
use std::time::Duration;

use peermap_driver::{Call, CuResult, DriverError};
use peermap_report::{ExitCode, FailureKind};

use crate::error::kind_of_driver_error;

/// Why a launch gave no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The code could not be loaded.
    #[error("the code cannot be loaded: {source}")]
    Load {
        /// What the driver answered.
        source: DriverError,
        /// What its compiler wrote into the error log.
        log: String,
    },
    /// The kernel did something that it may not.
    #[error("the kernel faulted: {0}")]
    Fault(DriverError),
    /// The kernel still ran when its time was over, and the driver did not stop it.
    #[error("the kernel still ran after {0:?}; allow more with --deadline")]
    Unfinished(Duration),
    /// A call failed that has nothing to do with what the kernel does.
    #[error("{} failed: {source}", call.map_or("a driver call", Call::name))]
    Driver {
        /// The call.
        call: Option<Call>,
        /// What the driver answered.
        source: DriverError,
    },
    /// What a buffer holds could not be handed on.
    #[error("what buffer {argument} holds cannot be written: {source}")]
    Write {
        /// The argument, counted from 0.
        argument: usize,
        /// Why.
        source: io::Error,
    },
}

impl LaunchError {
    /// The exit code of the command.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Fault(DriverError::Refused { .. }) | Self::Unfinished(_) => ExitCode::DeviceFault,
            Self::Write { .. } => FailureKind::Unexpected.exit_code(),
            Self::Load { source, .. } | Self::Fault(source) | Self::Driver { source, .. } => {
                kind_of_driver_error(source).exit_code()
            }
        }
    }

    /// What the driver answered, if it was an answer of the driver. A kernel that did not end has the answer that a driver
    /// gives that stops it.
    #[must_use]
    pub fn result(&self) -> Option<CuResult> {
        match self {
            Self::Load { source, .. } | Self::Fault(source) | Self::Driver { source, .. } => source.result(),
            Self::Unfinished(_) => Some(CuResult::LAUNCH_TIMEOUT),
            Self::Write { .. } => None,
        }
    }

    /// The answer with what the backend knows about it.
    #[must_use]
    pub const fn source_error(&self) -> Option<&DriverError> {
        match self {
            Self::Load { source, .. } | Self::Fault(source) | Self::Driver { source, .. } => Some(source),
            Self::Unfinished(_) | Self::Write { .. } => None,
        }
    }
}
