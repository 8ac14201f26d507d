//! What a process is started for.

use serde::{Deserialize, Serialize};

use crate::helper::Help;

/// What a process is to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Play an entry and say its [`Verdict`](crate::Verdict).
    Play { id: String, seed: u64 },
    /// Be the second process of an entry, on a real driver.
    Peer,
    /// Be a process of an entry that needs no driver.
    Help(Help),
}
