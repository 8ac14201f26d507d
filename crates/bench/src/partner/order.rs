//! What a partner is told, and what it answers.

use peermap_driver::{ByteSize, Uuid};
use serde::{Deserialize, Serialize};

use crate::barrier::Kind;

/// Memory that becomes readable in the partner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Reach {
    /// By the descriptor that comes with the order: import, reserve, map, set access, read.
    Descriptor { size: ByteSize },
    /// By the bytes of a legacy handle: open, read.
    Legacy { handle: Vec<u8> },
}

/// What a partner is told. It answers each with one [`Answer`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Initialise the driver. The answer has the time.
    Init,
    /// Work in a context on a device, which is made at the first time. The answer has the time.
    Context { device: Uuid },
    /// Reach memory of who measures. The answer has the time of each step.
    Reach(Reach),
    /// Give it back. The answer has the time of each step.
    LetGo,
    /// Allocate with `cuMemAlloc`. The answer is its legacy handle.
    Lend { size: ByteSize },
    /// Free it.
    TakeBack,
    /// Join the barrier whose memory comes with the order, on so many cores at most.
    Join { kind: Kind, member: u32, members: u32, cores: usize },
    /// Meet the others once, and then so often again. The answer has the time of each round after the first meeting.
    Meet { rounds: u32 },
}

/// What a partner answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// It runs, and has done nothing yet.
    Ready,
    /// It did as it was told. Times are in nanoseconds.
    Done(Vec<f64>),
    /// The bytes of the legacy handle of what it allocated.
    Lent(Vec<u8>),
    /// It could not.
    Failed {
        /// Why.
        message: String,
        /// Whether the machine only lacks something.
        lacks: bool,
    },
}
