//! A running child.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::process::{self, ChildStderr, ChildStdout};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};

use super::error::ChildError;
use super::exit::Exit;
use super::played::Played;
use crate::Deadline;
use crate::ready::wait_ready;

/// A child process. Dropping it kills and reaps the process, so no zombie is ever left.
#[derive(Debug)]
pub struct Child {
    body: Body,
    exit: Option<Exit>,
}

/// What a child is.
#[derive(Debug)]
enum Body {
    Process { process: process::Child, pidfd: OwnedFd },
    Played(Box<dyn Played>),
}

impl Child {
    /// Takes over a process that was just started.
    pub(super) fn supervise(mut process: process::Child) -> Result<Self, ChildError> {
        match pidfd_open(process.id()) {
            Ok(pidfd) => Ok(Self { body: Body::Process { process, pidfd }, exit: None }),
            Err(source) => {
                // There is no Child yet that could do this when dropped. The process exists and is ours, so neither call
                // can fail in a way that matters more than `source`.
                let _ = process.kill();
                let _ = process.wait();
                Err(ChildError::System { call: "pidfd_open", source })
            }
        }
    }

    /// Takes over a child that is played.
    #[must_use]
    pub fn played(child: Box<dyn Played>) -> Self {
        Self { body: Body::Played(child), exit: None }
    }

    /// The process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        match &self.body {
            Body::Process { process, .. } => process.id(),
            Body::Played(child) => child.pid(),
        }
    }

    /// Whether the process is stopped, by a signal or by who traces it, as far as that can be seen.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let Body::Process { process, .. } = &self.body else { return false };
        let stat = fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap_or_default();
        // The state stands behind the name, in which there may be anything.
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        matches!(state, Some('T' | 't'))
    }

    /// A descriptor that becomes readable when the process ends.
    #[must_use]
    pub fn pidfd(&self) -> BorrowedFd<'_> {
        match &self.body {
            Body::Process { pidfd, .. } => pidfd.as_fd(),
            Body::Played(child) => child.end(),
        }
    }

    /// The reading end of the child's standard output: once, and only for [`Output::Piped`](super::Output::Piped).
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        match &mut self.body {
            Body::Process { process, .. } => process.stdout.take(),
            Body::Played(_) => None,
        }
    }

    /// The reading end of the child's standard error: once, and only for [`Output::Piped`](super::Output::Piped).
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        match &mut self.body {
            Body::Process { process, .. } => process.stderr.take(),
            Body::Played(_) => None,
        }
    }

    /// How the child ended, if it has. This reaps it.
    ///
    /// # Errors
    /// [`ChildError::Status`] if somebody else reaped the process.
    pub fn try_wait(&mut self) -> Result<Option<Exit>, ChildError> {
        if self.exit.is_none() {
            let pid = self.pid();
            self.exit = match &mut self.body {
                Body::Process { process, .. } => {
                    process.try_wait().map_err(|source| ChildError::Status { pid, source })?.map(Exit::from_status)
                }
                Body::Played(child) => child.exit(),
            };
        }
        Ok(self.exit)
    }

    /// Waits until the child has ended, and reaps it.
    ///
    /// # Errors
    /// [`ChildError::TimedOut`] if it has not ended by then; it goes on running. Else as [`Child::try_wait`].
    pub fn wait(&mut self, deadline: Deadline) -> Result<Exit, ChildError> {
        loop {
            if let Some(exit) = self.try_wait()? {
                return Ok(exit);
            }
            let mut fds = [PollFd::new(self.pidfd(), PollFlags::POLLIN)];
            if !wait_ready(&mut fds, deadline).map_err(ChildError::from_call("ppoll"))? {
                return Err(ChildError::TimedOut);
            }
        }
    }

    /// Kills the child with `SIGKILL`. It is not reaped yet. A child that has ended already is no error.
    ///
    /// # Errors
    /// [`ChildError::Kill`] if the signal cannot be sent, for example because the child runs as another user.
    pub fn kill(&mut self) -> Result<(), ChildError> {
        let pid = self.pid();
        match &mut self.body {
            Body::Process { process, .. } => process.kill().map_err(|source| ChildError::Kill { pid, source }),
            Body::Played(child) => {
                child.kill();
                Ok(())
            }
        }
    }

    /// Whether the end of this child has been reported already.
    pub(super) fn is_reaped(&self) -> bool {
        self.exit.is_some()
    }
}

impl AsFd for Child {
    /// The [`Child::pidfd`].
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.exit.is_some() {
            return;
        }
        match &mut self.body {
            // Errors mean that the process is gone or was reaped by somebody else; then nothing is left to do. If the
            // signal cannot be sent because the child changed its user, waiting could last for ever, and reaping is left
            // to init.
            Body::Process { process, .. } => {
                if process.kill().is_ok() {
                    let _ = process.wait();
                }
            }
            Body::Played(child) => child.kill(),
        }
    }
}

/// Opens a process that cannot have been reaped yet, so that the id is still its own.
pub(super) fn pidfd_open(pid: u32) -> Result<OwnedFd, Errno> {
    // SAFETY: pidfd_open(2) takes numbers only.
    let number = Errno::result(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
    // SAFETY: pidfd_open(2) returns a new close-on-exec descriptor, which nobody else owns; descriptors fit in `RawFd`.
    Ok(unsafe { OwnedFd::from_raw_fd(number as RawFd) })
}
