//! Waiting for several children and descriptors at once.

use std::os::fd::{AsFd, BorrowedFd};

use nix::poll::{PollFd, PollFlags};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use super::error::ChildError;
use super::exit::Exit;
use super::process::Child;
use crate::Deadline;
use crate::ready::wait_ready;

/// What [`wait_any`] saw first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A child ended and was reaped.
    Ended {
        /// Its index among the children.
        child: usize,
        /// How it ended.
        exit: Exit,
    },
    /// A descriptor can be read, or its other end was closed.
    Readable {
        /// Its index among the descriptors.
        fd: usize,
    },
}

/// Waits until a child ends or a descriptor becomes readable.
///
/// Each child's end is reported once: children that were reaped before are passed over. If both have happened, the child
/// comes first, because a descriptor whose other end is closed stays readable. What the child sent before it ended can
/// still be received after that.
///
/// # Errors
/// [`ChildError::TimedOut`]; [`ChildError::NothingToWatch`] if all children were reaped before and `fds` is empty;
/// [`ChildError::Status`].
pub fn wait_any(children: &mut [&mut Child], fds: &[BorrowedFd<'_>], deadline: Deadline) -> Result<Event, ChildError> {
    let running: Vec<usize> = (0..children.len()).filter(|index| !children[*index].is_reaped()).collect();
    if running.is_empty() && fds.is_empty() {
        return Err(ChildError::NothingToWatch);
    }
    loop {
        let watched = running.iter().map(|index| children[*index].as_fd()).chain(fds.iter().copied());
        let mut polled: Vec<PollFd<'_>> = watched.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        if !wait_ready(&mut polled, deadline).map_err(ChildError::from_call("ppoll"))? {
            return Err(ChildError::TimedOut);
        }
        let ready: Vec<bool> = polled.iter().map(is_ready).collect();
        let (ended, readable) = ready.split_at(running.len());
        // Only those are asked whose end the kernel tells: of many children, few end at a time.
        for (&child, _) in running.iter().zip(ended).filter(|(_, ended)| **ended) {
            if let Some(exit) = children[child].try_wait()? {
                return Ok(Event::Ended { child, exit });
            }
        }
        if let Some(fd) = readable.iter().position(|ready| *ready) {
            return Ok(Event::Readable { fd });
        }
    }
}

/// Whether a child of this process has ended that was not reaped yet, by its process id. It is not reaped by this either.
#[must_use]
pub fn has_ended(child: u32) -> bool {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    let status = waitid(Id::Pid(Pid::from_raw(child.cast_signed())), flags);
    matches!(status, Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)))
}

fn is_ready(fd: &PollFd<'_>) -> bool {
    fd.any() != Some(false)
}
