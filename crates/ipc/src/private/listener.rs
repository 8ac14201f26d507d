//! Who listens.

use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::sys::socket::{AddressFamily, Backlog, SockFlag, SockType, accept4, bind, listen, socket};

use super::doorstep::Doorstep;
use super::{PrivateAddress, failed, is_of_this_user};
use crate::ready::wait_ready;
use crate::{Channel, Deadline, IpcError};

/// Waits for those who know its address.
#[derive(Debug)]
pub struct PrivateListener {
    socket: OwnedFd,
    address: PrivateAddress,
    doorstep: Doorstep,
}

impl PrivateListener {
    /// Listens at a new address.
    ///
    /// # Errors
    /// [`IpcError::OpenFilesExhausted`] if this process has no descriptor left, else [`IpcError::System`].
    pub fn new() -> Result<Self, IpcError> {
        let address = PrivateAddress::new()?;
        // Not blocking, because who made the socket ready may be gone when it is looked at.
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(AddressFamily::Unix, SockType::SeqPacket, flags, None).map_err(failed("socket"))?;
        bind(socket.as_raw_fd(), &address.in_kernel()?).map_err(failed("bind"))?;
        listen(&socket, Backlog::MAXCONN).map_err(failed("listen"))?;
        Ok(Self { socket, address, doorstep: Doorstep::default() })
    }

    /// Its address.
    #[must_use]
    pub const fn address(&self) -> PrivateAddress {
        self.address
    }

    /// Waits for the next process of this user that knows the address. All others are turned away; one that says nothing
    /// keeps nobody else out.
    ///
    /// # Errors
    /// [`IpcError::TimedOut`] if none comes in time, else as [`Self::new`].
    pub fn accept(&mut self, deadline: Deadline) -> Result<Channel, IpcError> {
        loop {
            let visitor_waits = self.wait(deadline.or_earlier(self.doorstep.next_to_go()))?;
            if let Some(channel) = self.doorstep.who_shows(&self.address.knock) {
                // One that has left again is as good as one that never came.
                match channel.send(self.address.answer.bytes(), &[], deadline) {
                    Err(IpcError::PeerClosed) => continue,
                    answered => return answered.map(|()| channel),
                }
            }
            if visitor_waits {
                self.let_one_in()?;
            } else if deadline.has_passed() {
                return Err(IpcError::TimedOut);
            }
        }
    }

    /// Waits until somebody comes or speaks, or the deadline has passed. Whether somebody has come.
    fn wait(&self, deadline: Deadline) -> Result<bool, IpcError> {
        let door = PollFd::new(self.socket.as_fd(), PollFlags::POLLIN);
        let doorstep = self.doorstep.descriptors().map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        let mut polled: Vec<_> = [door].into_iter().chain(doorstep).collect();
        wait_ready(&mut polled, deadline).map_err(failed("ppoll"))?;
        Ok(polled[0].any() == Some(true))
    }

    /// Lets one in as far as the doorstep.
    fn let_one_in(&mut self) -> Result<(), IpcError> {
        let accepted = match accept4(self.socket.as_raw_fd(), SockFlag::SOCK_CLOEXEC) {
            Err(Errno::EAGAIN | Errno::ECONNABORTED | Errno::EINTR) => return Ok(()),
            accepted => accepted.map_err(failed("accept4"))?,
        };
        // SAFETY: accept4(2) gave this descriptor just now, and nobody else has it.
        let channel = Channel::from_fd(unsafe { OwnedFd::from_raw_fd(accepted) })?;
        if is_of_this_user(&channel)? {
            self.doorstep.add(channel);
        }
        Ok(())
    }
}
