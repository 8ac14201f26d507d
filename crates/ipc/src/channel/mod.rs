//! Packets of bytes with descriptors over a Unix socket.
//!
//! A [`Channel`] is one end of a connected `AF_UNIX` socket of type `SOCK_SEQPACKET`: messages keep their boundaries and
//! order, and arrive whole or not at all.

mod receive;
mod socket;
mod tap;

pub use socket::{Channel, PeerCredentials, Received};
pub use tap::{Fate, Tap};

/// The most descriptors that one message can carry: the kernel's `SCM_MAX_FD`.
pub const MAX_FDS_PER_MESSAGE: usize = 253;

/// The most payload that one message can carry.
///
/// It stays well below the default socket buffer of Linux (`net.core.wmem_default`, about 208 KiB), above which a packet
/// socket refuses a message whatever the receiver does.
///
/// # Units
/// Bytes.
pub const MAX_PAYLOAD: usize = 64 * 1024;
