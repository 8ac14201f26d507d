//! What a machine in an OS process of its own and the others say to each other.

use peermap_model::{Answer, Ask, SharedWait};
use serde::{Deserialize, Serialize};

use crate::host::Terms;

/// From whoever started the machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Control {
    /// A process will join over the socket beside this.
    Join {
        /// The node that it is put on.
        node: Option<u16>,
    },
    /// What is there to tell of memory?
    Account,
}

/// To whoever started the machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum ControlReply {
    /// The machine is ready, or the socket was taken.
    Ready,
    /// Beside this lies a file with what there is to tell.
    Account,
    /// The machine cannot go on.
    Failed(String),
}

/// From a process to the machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum FromProcess {
    /// First of all. Beside it lies the socket over which the process hears that others wait for it.
    Hello {
        /// The process, as itself sees it.
        pid: u32,
    },
    /// Gives the next descriptors of the machine's memory. A process asks for them piece by piece, so that the machine waits
    /// for nobody.
    Memory {
        /// How many the process has.
        first: u32,
    },
    /// A question.
    Ask(Ask),
    /// Has another process run what comes before a mark. There is no answer.
    Urge(SharedWait),
    /// Has all other processes run what they have queued. There is no answer.
    UrgeAll,
}

/// What a process hears over its bell.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Ring {
    /// Another process waits for a mark of this one.
    Mark(SharedWait),
    /// A kernel of another process waits for something that this one may do.
    Work,
}

/// From the machine to a process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum ToProcess {
    /// The answer to the first word.
    Welcome {
        /// The name of the machine's profile.
        profile: String,
        /// The rest.
        terms: Terms,
    },
    /// Beside this lie some descriptors. All of them are those of the budget, of the switches and of two per arena, or three.
    Memory,
    /// The answer to a question.
    Answer(Answer),
    /// The question could not be answered.
    Failed(String),
}
