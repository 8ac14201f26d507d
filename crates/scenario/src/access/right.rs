//! The rights of a device on a mapping, and how it comes to them.

use std::fmt;

use peermap_driver::AccessFlags;
use serde::{Deserialize, Serialize};

/// The rights of a device on a mapping, and how it comes to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Right {
    /// Mapped, and nothing else: the device is never named.
    None,
    /// To read.
    Read,
    /// To read and write.
    ReadWrite,
    /// To read; once that was used, to write too.
    Raised,
    /// To read and write; once that was used, only to read.
    Lowered,
    /// To read and write; once that was used, nothing.
    Revoked,
}

impl Right {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::None, Self::Read, Self::ReadWrite, Self::Raised, Self::Lowered, Self::Revoked];

    /// What a fresh mapping is given, one after the other.
    pub(super) const fn grants(self) -> &'static [AccessFlags] {
        const READ: AccessFlags = AccessFlags::READ;
        const BOTH: AccessFlags = AccessFlags::READWRITE;
        match self {
            Self::None => &[],
            Self::Read => &[READ],
            Self::ReadWrite => &[BOTH],
            Self::Raised => &[READ, BOTH],
            Self::Lowered => &[BOTH, READ],
            Self::Revoked => &[BOTH, AccessFlags::NONE],
        }
    }

    /// What holds in the end.
    pub(super) fn flags(self) -> AccessFlags {
        self.grants().last().copied().unwrap_or(AccessFlags::NONE)
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Read => "read",
            Self::ReadWrite => "read-write",
            Self::Raised => "raised to read-write",
            Self::Lowered => "lowered to read",
            Self::Revoked => "revoked",
        })
    }
}
