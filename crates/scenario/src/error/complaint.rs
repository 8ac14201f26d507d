//! What a worker says when it cannot go on, and what the answers of a driver mean.

use std::error::Error;
use std::fmt;

use peermap_driver::{CuResult, DriverError, with_causes};
use peermap_report::FailureKind;
use serde::{Deserialize, Serialize};

/// What a worker says when it cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complaint {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What happened, in one line.
    pub message: String,
    /// The driver call that failed, by CUDA's name.
    pub call: Option<String>,
    /// The rule that was broken, if the backend can tell.
    pub rule: Option<String>,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.call {
            Some(call) => write!(f, "{call}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// The kind of failure that an answer of a driver is.
pub(crate) fn kind_of_driver_error(error: &DriverError) -> FailureKind {
    match error {
        DriverError::NotModelled { .. } => FailureKind::NotModelled,
        DriverError::Finding { .. } => FailureKind::Finding,
        DriverError::Host { .. } => FailureKind::Limit,
        DriverError::WouldHang { .. } => FailureKind::TimedOut,
        DriverError::Refused { result, .. } if is_device_fault(*result) => FailureKind::DeviceFault,
        DriverError::Refused { .. } | DriverError::WouldCrash { .. } => FailureKind::Driver,
    }
}

/// Whether a code says that work on a device went wrong, as opposed to a call.
fn is_device_fault(result: CuResult) -> bool {
    const FAULTS: &[CuResult] = &[
        CuResult::ECC_UNCORRECTABLE,
        CuResult::NVLINK_UNCORRECTABLE,
        CuResult::CONTAINED,
        CuResult::ILLEGAL_ADDRESS,
        CuResult::LAUNCH_TIMEOUT,
        CuResult::ASSERT,
        CuResult::HARDWARE_STACK_ERROR,
        CuResult::ILLEGAL_INSTRUCTION,
        CuResult::MISALIGNED_ADDRESS,
        CuResult::INVALID_ADDRESS_SPACE,
        CuResult::INVALID_PC,
        CuResult::LAUNCH_FAILED,
    ];
    FAULTS.contains(&result)
}

/// An error and all its causes in one line.
#[must_use]
pub fn one_line(error: &dyn Error) -> String {
    with_causes(error).replace('\n', " ")
}
