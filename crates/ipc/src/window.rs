//! A place where a process shows something to every process of its user that comes by, and where those find it.
//!
//! A window has a name in the abstract name space of Unix sockets: a kind, and then a random number, so that nobody can take the
//! name before. Whoever looks for a kind reads the list of sockets that the kernel keeps. Both sides turn processes of
//! other users away, and nothing that comes in through a window is read.

use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, UnixAddr, accept4, bind, connect, listen, setsockopt, socket, sockopt,
};

use crate::private::{at_least_a_moment, failed, is_of_this_user};
use crate::token::Token;
use crate::{Channel, Deadline, IpcError};

/// Where the kernel lists the sockets of this host.
const SOCKETS: &str = "/proc/net/unix";

/// A place where this process shows something.
#[derive(Debug)]
pub struct Window(OwnedFd);

/// Somebody who shows something.
#[derive(Debug)]
pub struct Shown {
    /// The process.
    pub pid: u32,
    /// What it shows comes over this.
    pub channel: Channel,
}

impl Window {
    /// Opens a window of a kind: letters, digits and dashes.
    ///
    /// # Errors
    /// [`IpcError::OpenFilesExhausted`] if this process has no descriptor left, else [`IpcError::System`].
    pub fn open(kind: &str) -> Result<Self, IpcError> {
        let name = format!("{}{}", prefix(kind), Token::new()?.digits());
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let socket = socket(AddressFamily::Unix, SockType::SeqPacket, flags, None).map_err(failed("socket"))?;
        let address = UnixAddr::new_abstract(name.as_bytes()).map_err(failed("address"))?;
        bind(socket.as_raw_fd(), &address).map_err(failed("bind"))?;
        listen(&socket, Backlog::MAXCONN).map_err(failed("listen"))?;
        Ok(Self(socket))
    }

    /// The next process of this user that stands there, if there is one. Does not wait.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn visitor(&self) -> Result<Option<Channel>, IpcError> {
        loop {
            let accepted = match accept4(self.0.as_raw_fd(), SockFlag::SOCK_CLOEXEC) {
                Err(Errno::EAGAIN) => return Ok(None),
                Err(Errno::ECONNABORTED | Errno::EINTR) => continue,
                accepted => accepted.map_err(failed("accept4"))?,
            };
            // SAFETY: accept4(2) gave this descriptor just now, and nobody else has it.
            let channel = Channel::from_fd(unsafe { OwnedFd::from_raw_fd(accepted) })?;
            if is_of_this_user(&channel)? {
                return Ok(Some(channel));
            }
        }
    }

    /// Goes to every window of a kind that a process of this user has open, and waits for none longer than until the deadline.
    ///
    /// # Errors
    /// [`IpcError::System`] if the kernel does not list its sockets.
    pub fn all(kind: &str, deadline: Deadline) -> Result<Vec<Shown>, IpcError> {
        let failed = |error: std::io::Error| {
            IpcError::from_call(SOCKETS, Errno::from_raw(error.raw_os_error().unwrap_or_default()))
        };
        let list = fs::read_to_string(SOCKETS).map_err(failed)?;
        let (start, digits) = (format!("@{}", prefix(kind)), 2 * Token::BYTES);
        let is_one = |name: &&str| name.strip_prefix(&start).is_some_and(|rest| rest.len() == digits);
        let mut names: Vec<_> = list.lines().filter_map(|line| line.split(' ').next_back()).filter(is_one).collect();
        names.sort_unstable();
        names.dedup();
        // One that has just been shut, or that is not of this user, is as good as none.
        Ok(names.into_iter().filter_map(|name| look(&name[1..], deadline).ok().flatten()).collect())
    }
}

impl AsFd for Window {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn prefix(kind: &str) -> String {
    format!("peermap-{kind}-")
}

fn look(name: &str, deadline: Deadline) -> Result<Option<Shown>, IpcError> {
    let socket =
        socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None).map_err(failed("socket"))?;
    if let Some(time) = deadline.remaining().map(at_least_a_moment) {
        setsockopt(&socket, sockopt::SendTimeout, &time).map_err(failed("setsockopt"))?;
    }
    let address = UnixAddr::new_abstract(name.as_bytes()).map_err(failed("address"))?;
    connect(socket.as_raw_fd(), &address).map_err(failed("connect"))?;
    let channel = Channel::from_fd(socket)?;
    let is_ours = is_of_this_user(&channel)?;
    let pid = channel.peer_credentials()?.pid;
    Ok(is_ours.then_some(Shown { pid, channel }))
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn soon() -> Deadline {
        Deadline::after(Duration::from_secs(5))
    }

    #[test]
    fn a_window_is_found_by_its_kind_and_shows_what_its_process_sends() {
        let window = Window::open("test-shows").unwrap();
        assert!(window.visitor().unwrap().is_none());
        assert_eq!(Window::all("test-sho", soon()).unwrap().len(), 0, "another kind");
        let mut shown = Window::all("test-shows", soon()).unwrap();
        let shown = shown.pop().expect("the window");
        assert_eq!(shown.pid, std::process::id());
        let visitor = window.visitor().unwrap().expect("who came");
        visitor.send(b"here", &[], soon()).unwrap();
        assert_eq!(shown.channel.recv(0, soon()).unwrap().payload, b"here");
        drop(window);
        assert!(Window::all("test-shows", soon()).unwrap().is_empty());
    }

    #[test]
    fn who_leaves_at_once_and_who_never_speaks_hold_nobody_up() {
        let window = Window::open("test-crowd").unwrap();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| drop(Window::all("test-crowd", soon()).unwrap()));
            }
        });
        let silent = Window::all("test-crowd", soon()).unwrap();
        let mut came = 0;
        while window.visitor().unwrap().is_some() {
            came += 1;
        }
        assert_eq!((came, silent.len()), (9, 1));
    }
}
