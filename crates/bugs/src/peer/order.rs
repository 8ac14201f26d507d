//! What a second process is told, and what it answers.

use std::os::fd::OwnedFd;

use peermap_driver::Uuid;
use serde::{Deserialize, Serialize};

use crate::trouble::Trouble;

/// What a second process is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Make a context.
    Context { ordinal: i32 },
    /// Say which devices there are.
    Devices,
    /// Open memory by its legacy handle.
    Open { handle: Vec<u8> },
    /// Close it.
    Close { ptr: u64 },
    /// Read some bytes.
    Read { ptr: u64, count: usize },
    /// Allocate memory and export it.
    Share { size: u64 },
}

/// What it answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Answer {
    Done,
    Address(u64),
    Bytes(Vec<u8>),
    Devices(Vec<Uuid>),
    /// The descriptor travels beside the answer.
    Shared,
    /// The driver refused, with this code.
    Refused(u32),
    /// It cannot do what it is told, and why.
    Failed(String),
}

/// Memory of a second process that was exported as a descriptor.
#[derive(Debug)]
pub(crate) struct Shared(pub(crate) OwnedFd);

impl Answer {
    /// An answer to another order.
    pub(super) fn unexpected(self) -> Trouble {
        Trouble::Answer {
            step: "an order to the second process",
            expected: "its answer".to_owned(),
            found: format!("{self:?}"),
        }
    }
}
