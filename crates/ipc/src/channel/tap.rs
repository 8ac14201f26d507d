//! What may become of a message on its way.

use std::fmt;
use std::time::Duration;

/// What becomes of a message that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives.
    Arrives,
    /// It never does.
    Lost,
    /// It arrives twice.
    Doubled,
    /// Its first half arrives, without its descriptors.
    Cut,
    /// It arrives after this time, and the sender waits for that.
    Late(Duration),
}

/// Decides what becomes of the messages that an end of a channel sends.
pub trait Tap: fmt::Debug + Send + Sync {
    /// Of the next one.
    fn next(&self) -> Fate;
}
