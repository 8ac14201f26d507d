//! An address that only those know who were told it, for processes that nobody starts and hands a channel to.
//!
//! The address has a place, which is a random name in the abstract name space of Unix sockets: it is in no file system, it
//! is gone when the listener is, and it cannot be guessed. But whoever lists the sockets of the host sees it. So the address
//! has two secrets too: who comes shows the one, who listens answers with the other. Who cannot is turned away, however
//! many they are, and so is every process of another user.

mod address;
mod connect;
mod doorstep;
mod listener;

pub use address::PrivateAddress;
pub(crate) use connect::at_least_a_moment;
pub use listener::PrivateListener;

use nix::errno::Errno;
use nix::unistd::geteuid;

use crate::{Channel, IpcError};

pub(crate) fn is_of_this_user(channel: &Channel) -> Result<bool, IpcError> {
    Ok(channel.peer_credentials()?.uid == geteuid().as_raw())
}

pub(crate) fn failed(call: &'static str) -> impl FnOnce(Errno) -> IpcError {
    move |errno| IpcError::from_call(call, errno)
}
