//! Waiting for several children and descriptors at once.

use std::os::fd::{AsFd, BorrowedFd};

use nix::poll::{PollFd, PollFlags};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};

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

/// Whether one of the children of this process has ended in another way than with code 0 and was not reaped. It is not reaped
/// by this either. A child that ended with code 0 before it hides it.
#[must_use]
pub fn some_child_failed() -> bool {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    match waitid(Id::All, flags) {
        Ok(WaitStatus::Exited(_, code)) => code != 0,
        Ok(WaitStatus::Signaled(..)) => true,
        _ => false,
    }
}

fn is_ready(fd: &PollFd<'_>) -> bool {
    fd.any() != Some(false)
}
