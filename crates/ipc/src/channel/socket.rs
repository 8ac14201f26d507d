//! The channel itself: sending, receiving, waiting.

use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags};
use nix::sys::socket::{
    AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType, getsockopt, sendmsg, socketpair, sockopt,
};

use super::receive::{RawMessage, receive};
use super::tap::{Fate, Tap};
use super::{MAX_FDS_PER_MESSAGE, MAX_PAYLOAD};
use crate::ready::wait_ready;
use crate::{Deadline, IpcError, stage};

/// One end of a connection that carries packets of bytes and descriptors.
///
/// The descriptor is always close-on-exec: a child gets a channel only if it is told to
/// (see [`Spawn::inherit`](crate::Spawn::inherit)).
#[derive(Debug)]
pub struct Channel {
    socket: OwnedFd,
    tap: Option<Arc<dyn Tap>>,
}

/// A received message.
#[derive(Debug)]
pub struct Received {
    /// The bytes of the message, never empty.
    pub payload: Vec<u8>,
    /// Its descriptors, in the order in which they were sent; all are close-on-exec.
    pub fds: Vec<OwnedFd>,
}

/// Who made the other end of a connection.
///
/// The kernel took these values when the pair was made or the connection was accepted. They stay the same when the
/// descriptor is handed to another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerCredentials {
    /// Process id, zero if the process is not visible in our namespace.
    pub pid: u32,
    /// Effective user id.
    pub uid: u32,
    /// Effective group id.
    pub gid: u32,
}

impl Channel {
    /// Makes two channels that are connected to each other.
    ///
    /// # Errors
    /// [`IpcError::OpenFilesExhausted`] if this process has no descriptor left.
    pub fn pair() -> Result<(Self, Self), IpcError> {
        let (one, other) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)
            .map_err(|errno| IpcError::from_call("socketpair", errno))?;
        Ok((Self { socket: one, tap: None }, Self { socket: other, tap: None }))
    }

    /// Takes a socket, for example one that was inherited or received, and makes it close-on-exec.
    ///
    /// # Errors
    /// [`IpcError::NotAPacketSocket`] for another kind of socket, [`IpcError::System`] if it is no socket at all.
    pub fn from_fd(socket: OwnedFd) -> Result<Self, IpcError> {
        let domain = socket_option(socket.as_fd(), libc::SO_DOMAIN)?;
        let kind = socket_option(socket.as_fd(), libc::SO_TYPE)?;
        if (domain, kind) != (libc::AF_UNIX, libc::SOCK_SEQPACKET) {
            return Err(IpcError::NotAPacketSocket { domain, kind });
        }
        fcntl(&socket, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).map_err(|errno| IpcError::from_call("fcntl", errno))?;
        Ok(Self { socket, tap: None })
    }

    /// Gives the socket up.
    #[must_use]
    pub fn into_fd(self) -> OwnedFd {
        self.socket
    }

    /// Has somebody decide what becomes of the messages that this end sends.
    #[must_use]
    pub fn tapped(self, tap: Arc<dyn Tap>) -> Self {
        Self { tap: Some(tap), ..self }
    }

    /// Sends one message. It is sent whole or, on an error, not at all.
    ///
    /// The receiver gets copies of `fds`; the caller keeps its own.
    ///
    /// # Errors
    /// Before anything is sent: [`IpcError::EmptyPayload`], [`IpcError::PayloadTooLarge`] and
    /// [`IpcError::TooManyDescriptors`]. From the kernel: [`IpcError::PeerClosed`], [`IpcError::TimedOut`] if the peer
    /// does not make room in time, [`IpcError::DescriptorsInFlight`].
    pub fn send(&self, payload: &[u8], fds: &[BorrowedFd<'_>], deadline: Deadline) -> Result<(), IpcError> {
        check_payload(payload.len())?;
        if fds.len() > MAX_FDS_PER_MESSAGE {
            return Err(IpcError::TooManyDescriptors { given: fds.len(), max: MAX_FDS_PER_MESSAGE });
        }
        match self.tap.as_ref().map_or(Fate::Arrives, |tap| tap.next()) {
            Fate::Arrives => self.put(payload, fds, deadline),
            Fate::Lost => Ok(()),
            Fate::Doubled => self.put(payload, fds, deadline).and_then(|()| self.put(payload, fds, deadline)),
            Fate::Cut => self.put(&payload[..payload.len().div_ceil(2)], &[], deadline),
            Fate::Late(time) => {
                stage::pause(time);
                self.put(payload, fds, deadline)
            }
        }
    }

    fn put(&self, payload: &[u8], fds: &[BorrowedFd<'_>], deadline: Deadline) -> Result<(), IpcError> {
        let numbers: Vec<RawFd> = fds.iter().map(AsRawFd::as_raw_fd).collect();
        let rights = [ControlMessage::ScmRights(&numbers)];
        // A rights message of no descriptors would be legal but costs the receiver a control message for nothing.
        let control = if numbers.is_empty() { &rights[..0] } else { &rights[..] };
        // MSG_NOSIGNAL: a peer that is gone shall be an error, not a SIGPIPE.
        let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
        loop {
            match sendmsg::<()>(self.socket.as_raw_fd(), &[IoSlice::new(payload)], control, flags, None) {
                Ok(_) => return Ok(()),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => self.wait_for(PollFlags::POLLOUT, deadline)?,
                Err(errno) => return Err(IpcError::from_call("sendmsg", errno)),
            }
        }
    }

    /// Receives one message that carries at most `max_fds` descriptors.
    ///
    /// # Errors
    /// [`IpcError::PeerClosed`] once the peer is gone and everything it sent was received; [`IpcError::TimedOut`];
    /// [`IpcError::UnexpectedDescriptors`] for more than `max_fds`, [`IpcError::DescriptorsTruncated`] and
    /// [`IpcError::PayloadTruncated`]. After the last three the message is lost and its descriptors are closed, but the
    /// channel can still be used.
    pub fn recv(&self, max_fds: usize, deadline: Deadline) -> Result<Received, IpcError> {
        loop {
            match receive(self.socket.as_fd(), MAX_PAYLOAD) {
                Ok(message) => return accept(message, max_fds),
                // The kernel reports ECONNRESET once if the peer left messages of ours unread. What the peer itself sent
                // before it went can still be received, and after that comes the orderly end.
                Err(Errno::EINTR | Errno::ECONNRESET) => {}
                Err(Errno::EAGAIN) => self.wait_for(PollFlags::POLLIN, deadline)?,
                Err(errno) => return Err(IpcError::from_call("recvmsg", errno)),
            }
        }
    }

    /// Who made the other end.
    ///
    /// # Errors
    /// [`IpcError::System`] if the kernel refuses to say.
    ///
    /// # Source
    /// `SO_PEERCRED` in unix(7).
    pub fn peer_credentials(&self) -> Result<PeerCredentials, IpcError> {
        let credentials = getsockopt(&self.socket, sockopt::PeerCredentials)
            .map_err(|errno| IpcError::from_call("getsockopt", errno))?;
        Ok(PeerCredentials { pid: credentials.pid().cast_unsigned(), uid: credentials.uid(), gid: credentials.gid() })
    }

    fn wait_for(&self, events: PollFlags, deadline: Deadline) -> Result<(), IpcError> {
        let mut fds = [PollFd::new(self.socket.as_fd(), events)];
        match wait_ready(&mut fds, deadline) {
            Ok(true) => Ok(()),
            Ok(false) => Err(IpcError::TimedOut),
            Err(errno) => Err(IpcError::from_call("ppoll", errno)),
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn check_payload(len: usize) -> Result<(), IpcError> {
    match len {
        0 => Err(IpcError::EmptyPayload),
        1..=MAX_PAYLOAD => Ok(()),
        _ => Err(IpcError::PayloadTooLarge { len, max: MAX_PAYLOAD }),
    }
}

/// Turns what the kernel delivered into a message, or into the reason why it is none.
fn accept(message: RawMessage, max_fds: usize) -> Result<Received, IpcError> {
    let received = message.fds.len();
    if message.control_truncated {
        return Err(IpcError::with_limit(|limit| IpcError::DescriptorsTruncated { received, limit }));
    }
    if message.payload_truncated {
        return Err(IpcError::PayloadTruncated { max: MAX_PAYLOAD });
    }
    match (message.payload.is_empty(), received) {
        (true, 0) => Err(IpcError::PeerClosed),
        (true, _) => Err(IpcError::EmptyPayload),
        (false, _) if received > max_fds => Err(IpcError::UnexpectedDescriptors { received, accepted: max_fds }),
        (false, _) => Ok(Received { payload: message.payload, fds: message.fds }),
    }
}

/// Reads an integer option at socket level. nix has no `SO_DOMAIN`, and its `SO_TYPE` fails on types it does not know.
fn socket_option(socket: BorrowedFd<'_>, option: i32) -> Result<i32, IpcError> {
    let mut value: i32 = 0;
    let mut len = size_of::<i32>() as libc::socklen_t;
    // SAFETY: getsockopt(2) writes at most `len` bytes to the value, which is that long, and the length it wrote to `len`.
    let result = unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, (&raw mut value).cast(), &raw mut len)
    };
    Errno::result(result).map_err(|errno| IpcError::from_call("getsockopt", errno))?;
    Ok(value)
}
