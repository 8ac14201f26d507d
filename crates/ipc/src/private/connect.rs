//! Who comes.

use std::os::fd::AsRawFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, connect, setsockopt, socket, sockopt};
use nix::sys::time::{TimeVal, TimeValLike};

use super::{PrivateAddress, failed, is_of_this_user};
use crate::{Channel, Deadline, IpcError};

impl Channel {
    /// Goes to a private address of this user, and waits to be let in.
    ///
    /// # Errors
    /// [`IpcError::System`] with `ECONNREFUSED` if nobody listens there; [`IpcError::NotWhoWasMeant`] if another user does,
    /// or somebody who does not know the address; [`IpcError::PeerClosed`] if we are not let in; [`IpcError::TimedOut`].
    pub fn connect(address: &PrivateAddress, deadline: Deadline) -> Result<Self, IpcError> {
        let socket =
            socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None).map_err(failed("socket"))?;
        // unix(7): connect waits for room among those who have not been let in yet, as long as a send may take.
        let patience = deadline.remaining().map(at_least_a_moment);
        if let Some(time) = patience {
            setsockopt(&socket, sockopt::SendTimeout, &time).map_err(failed("setsockopt"))?;
        }
        match connect(socket.as_raw_fd(), &address.in_kernel()?) {
            Err(Errno::EAGAIN) => return Err(IpcError::TimedOut),
            connected => connected.map_err(failed("connect"))?,
        }
        let channel = Self::from_fd(socket)?;
        if !is_of_this_user(&channel)? {
            return Err(IpcError::NotWhoWasMeant);
        }
        channel.send(address.knock.bytes(), &[], deadline)?;
        let answer = channel.recv(0, deadline)?;
        if address.answer.is(&answer.payload) { Ok(channel) } else { Err(IpcError::NotWhoWasMeant) }
    }
}

/// A time of zero would be for ever.
pub(crate) fn at_least_a_moment(time: Duration) -> TimeVal {
    TimeVal::microseconds(i64::try_from(time.as_micros()).unwrap_or(i64::MAX).max(1))
}
