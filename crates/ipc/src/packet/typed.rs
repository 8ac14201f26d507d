//! Values over a channel.

use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::frame::{self, Kind};
use crate::{Channel, Deadline, IpcError};

/// A channel that sends values of type `Tx` and receives values of type `Rx`.
///
/// The peer has the two types the other way round. Packets are numbered in each direction, so all of them must go through
/// one `TypedChannel` at each end.
#[derive(Debug)]
pub struct TypedChannel<Tx, Rx> {
    channel: Channel,
    next_sent: u64,
    next_received: u64,
    types: PhantomData<fn(Tx) -> Rx>,
}

impl<Tx: Serialize, Rx: DeserializeOwned> TypedChannel<Tx, Rx> {
    /// Speaks in packets over `channel`, which must not have carried any yet.
    #[must_use]
    pub fn new(channel: Channel) -> Self {
        Self { channel, next_sent: 0, next_received: 0, types: PhantomData }
    }

    /// Makes two typed channels that are connected to each other.
    ///
    /// # Errors
    /// As [`Channel::pair`].
    pub fn pair() -> Result<(Self, TypedChannel<Rx, Tx>), IpcError>
    where
        Tx: DeserializeOwned,
        Rx: Serialize,
    {
        let (one, other) = Channel::pair()?;
        Ok((Self::new(one), TypedChannel::new(other)))
    }

    /// Sends a value with descriptors.
    ///
    /// # Errors
    /// [`PacketError::Encode`](crate::PacketError::Encode), [`IpcError::PayloadTooLarge`] if the value takes more bytes
    /// than a message, and as [`Channel::send`]. After an error nothing was sent and the channel can still be used.
    pub fn send(&mut self, value: &Tx, fds: &[BorrowedFd<'_>], deadline: Deadline) -> Result<(), IpcError> {
        self.send_packet(Kind::Value, value, fds, deadline)
    }

    /// Receives a value that comes with at most `max_fds` descriptors.
    ///
    /// # Errors
    /// [`IpcError::Packet`] if the bytes are no packet, not the next one, or not a value of type `Rx`; the descriptors
    /// that came with it are closed. Else as [`Channel::recv`].
    pub fn recv(&mut self, max_fds: usize, deadline: Deadline) -> Result<(Rx, Vec<OwnedFd>), IpcError> {
        self.recv_packet(Kind::Value, max_fds, deadline)
    }

    /// Gives the underlying channel up, for example to hand it to another process before any packet was sent.
    #[must_use]
    pub fn into_channel(self) -> Channel {
        self.channel
    }

    pub(super) fn send_packet<T: Serialize>(
        &mut self,
        kind: Kind,
        value: &T,
        fds: &[BorrowedFd<'_>],
        deadline: Deadline,
    ) -> Result<(), IpcError> {
        let bytes = frame::encode(kind, self.next_sent, value)?;
        self.channel.send(&bytes, fds, deadline)?;
        self.next_sent = self.next_sent.wrapping_add(1);
        Ok(())
    }

    pub(super) fn recv_packet<T: DeserializeOwned>(
        &mut self,
        kind: Kind,
        max_fds: usize,
        deadline: Deadline,
    ) -> Result<(T, Vec<OwnedFd>), IpcError> {
        let received = self.channel.recv(max_fds, deadline)?;
        let body = frame::open(&received.payload, kind, self.next_received)?;
        // A packet whose header is right is used up, even if its value is wrong: the next one can still be read.
        self.next_received = self.next_received.wrapping_add(1);
        Ok((frame::value(body)?, received.fds))
    }
}

impl<Tx, Rx> AsFd for TypedChannel<Tx, Rx> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}
