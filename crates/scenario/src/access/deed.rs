//! What is tried, and what must come of it.

use std::fmt;

use peermap_driver::{AccessFlags, CuResult, DriverError};
use peermap_report::FailureKind;
use serde::{Deserialize, Serialize};

use super::Right;
use crate::error::kind_of_driver_error;

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Deed {
    /// The driver copies to the host.
    Copy,
    /// A kernel loads.
    Load,
    /// The driver sets bytes.
    Set,
    /// A kernel stores.
    Store,
}

impl Deed {
    /// All of them: those that change memory behind those that do not.
    pub const ALL: [Self; 4] = [Self::Copy, Self::Load, Self::Set, Self::Store];

    /// Whether the rights permit it.
    pub(super) fn is_permitted(self, right: Right) -> bool {
        match self {
            Self::Copy | Self::Load => right.flags() != AccessFlags::NONE,
            Self::Set | Self::Store => right.flags() == AccessFlags::READWRITE,
        }
    }

    /// Whether the rights forbid it, and a fault says so. The driver looks at the rights itself before it copies or sets, and the
    /// context lives on; what a kernel does it does not see.
    pub(super) fn must_fault(self, right: Right) -> bool {
        matches!(self, Self::Load | Self::Store) && !self.is_permitted(right)
    }

    /// Whether this is how the deed must end if the rights forbid it.
    pub(super) fn is_refused_by(self, error: &DriverError) -> bool {
        match self {
            Self::Copy | Self::Set => error.result() == Some(CuResult::INVALID_VALUE),
            Self::Load | Self::Store => kind_of_driver_error(error) == FailureKind::DeviceFault,
        }
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Copy => "copy",
            Self::Load => "load",
            Self::Set => "set",
            Self::Store => "store",
        })
    }
}
