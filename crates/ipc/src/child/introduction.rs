//! The child's side of a channel to its parent.

use std::os::fd::RawFd;
use std::time::Duration;

use nix::unistd::{geteuid, getppid};

use super::error::ChildError;
use super::handover::{take_inherited, token_of_parent};
use crate::{Channel, Deadline, PeerCredentials};

impl Channel {
    /// Takes the channel that the parent made with [`Spawn::connect`](crate::Spawn::connect).
    ///
    /// It has to be the parent's: the kernel says which process of which user made it, and the first thing on it are the
    /// 128 random bits that only this child was given, in its environment.
    ///
    /// # Errors
    /// [`ChildError::NotInherited`], [`ChildError::NotTheParent`], [`ChildError::Unproven`], and [`ChildError::Channel`] if
    /// it is no channel.
    pub fn to_parent(number: RawFd) -> Result<Self, ChildError> {
        let channel = Self::from_fd(take_inherited(number)?)?;
        let PeerCredentials { pid, uid, .. } = channel.peer_credentials()?;
        // Both are 0 if the parent lives in a pid namespace that we cannot see.
        if (pid.cast_signed(), uid) != (getppid().as_raw(), geteuid().as_raw()) {
            return Err(ChildError::NotTheParent { number, pid, uid });
        }
        let shown = channel.recv(0, Deadline::after(Duration::ZERO)).map(|received| received.payload);
        match (token_of_parent(), shown) {
            (Some(token), Ok(shown)) if token.is(&shown) => Ok(channel),
            _ => Err(ChildError::Unproven { number }),
        }
    }
}
