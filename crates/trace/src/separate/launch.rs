//! How players are started.

use std::os::fd::{OwnedFd, RawFd};
use std::path::PathBuf;

use crate::player::StartError;

/// A command that runs [`player_main`](crate::player_main).
#[derive(Debug)]
pub struct PlayerCommand {
    /// The executable.
    pub exe: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// What its environment has beside ours, or in place of it.
    pub env: Vec<(String, String)>,
    /// The number of the descriptor under which it expects its channel.
    pub channel: RawFd,
    /// Further descriptors that it expects, with their numbers.
    pub descriptors: Vec<(OwnedFd, RawFd)>,
}

/// Starts players on a backend.
pub trait Launch {
    /// The command that starts the next player.
    ///
    /// # Errors
    /// Whatever keeps a player from being started.
    fn command(&self) -> Result<PlayerCommand, StartError>;

    /// Whether the backend is a real driver: if a signal ends a player in the middle of a step, that is the driver's
    /// answer then. A simulator must not crash, so there it never counts as one.
    fn may_crash(&self) -> bool;
}
