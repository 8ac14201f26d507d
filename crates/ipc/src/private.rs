//! An address that only those know who were told it, for processes that nobody starts and hands a channel to.
//!
//! The address is 128 random bits in the abstract name space of Unix sockets: it is in no file system, and it is gone when
//! the listener is. Whoever lists the sockets of the host sees it, so only processes of the same user are let in.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::sys::socket::{AddressFamily, Backlog, SockFlag, SockType, UnixAddr, accept4, bind, connect, listen, socket};
use nix::unistd::geteuid;

use crate::ready::wait_ready;
use crate::{Channel, Deadline, IpcError};

/// An address that only those know who were told it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrivateAddress(pub [u8; 16]);

impl PrivateAddress {
    fn in_kernel(self) -> Result<UnixAddr, IpcError> {
        let name: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        UnixAddr::new_abstract(format!("peermap-{name}").as_bytes()).map_err(|errno| system("address", errno))
    }
}

/// Waits for those who know its address.
#[derive(Debug)]
pub struct PrivateListener {
    socket: OwnedFd,
    address: PrivateAddress,
}

impl PrivateListener {
    /// Listens at a new address.
    ///
    /// # Errors
    /// [`IpcError::OpenFilesExhausted`] if this process has no descriptor left, else [`IpcError::System`].
    pub fn new() -> Result<Self, IpcError> {
        let address = PrivateAddress(random_bytes()?);
        let socket = unconnected()?;
        bind(socket.as_raw_fd(), &address.in_kernel()?).map_err(|errno| system("bind", errno))?;
        listen(&socket, Backlog::MAXCONN).map_err(|errno| system("listen", errno))?;
        Ok(Self { socket, address })
    }

    /// Its address.
    #[must_use]
    pub const fn address(&self) -> PrivateAddress {
        self.address
    }

    /// Waits for the next process of this user. Those of others are turned away.
    ///
    /// # Errors
    /// [`IpcError::TimedOut`] if none comes in time, else as [`Self::new`].
    pub fn accept(&self, deadline: Deadline) -> Result<Channel, IpcError> {
        loop {
            let mut fds = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
            if !wait_ready(&mut fds, deadline).map_err(|errno| system("ppoll", errno))? {
                return Err(IpcError::TimedOut);
            }
            let flags = SockFlag::SOCK_CLOEXEC;
            let accepted = accept4(self.socket.as_raw_fd(), flags).map_err(|errno| system("accept4", errno))?;
            // SAFETY: accept4(2) gave this descriptor just now, and nobody else has it.
            let channel = Channel::from_fd(unsafe { OwnedFd::from_raw_fd(accepted) })?;
            if is_of_this_user(&channel)? {
                return Ok(channel);
            }
        }
    }
}

impl Channel {
    /// Goes to a private address of this user.
    ///
    /// # Errors
    /// [`IpcError::System`] with `ECONNREFUSED` if nobody listens there, or with `EACCES` if another user does.
    pub fn connect(address: PrivateAddress) -> Result<Self, IpcError> {
        let socket = unconnected()?;
        connect(socket.as_raw_fd(), &address.in_kernel()?).map_err(|errno| system("connect", errno))?;
        let channel = Self::from_fd(socket)?;
        if is_of_this_user(&channel)? { Ok(channel) } else { Err(system("connect", Errno::EACCES)) }
    }
}

fn unconnected() -> Result<OwnedFd, IpcError> {
    socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None)
        .map_err(|errno| system("socket", errno))
}

fn is_of_this_user(channel: &Channel) -> Result<bool, IpcError> {
    Ok(channel.peer_credentials()?.uid == geteuid().as_raw())
}

fn random_bytes() -> Result<[u8; 16], IpcError> {
    let mut bytes = [0; 16];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map(|()| bytes).map_err(|error| system("read", Errno::from_raw(error.raw_os_error().unwrap_or(0))))
}

fn system(call: &'static str, errno: Errno) -> IpcError {
    IpcError::from_call(call, errno)
}
