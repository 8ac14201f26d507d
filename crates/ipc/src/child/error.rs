//! What can go wrong with children.

use std::io;
use std::os::fd::RawFd;
use std::path::PathBuf;

use nix::errno::Errno;

use crate::IpcError;

/// An error of [`Spawn`](super::Spawn), [`Child`](super::Child), [`wait_any`](super::wait_any) or
/// [`take_inherited`](super::take_inherited).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChildError {
    /// There is no such executable (any more).
    #[error("cannot start {path}: no such file; was it moved, deleted or rebuilt while this program was running?", path = path.display())]
    ExecutableMissing {
        /// The executable.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The child could not be started for another reason.
    #[error("cannot start {path}", path = path.display())]
    Start {
        /// The executable.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A descriptor was to appear as standard input, output or error, or under a negative number.
    #[error("descriptor number {number} cannot be handed to a child; the first free number is 3")]
    ReservedNumber {
        /// The number asked for.
        number: RawFd,
    },
    /// Two descriptors were to appear under the same number.
    #[error("two descriptors were to have number {number} in the child")]
    NumberTwice {
        /// The number asked for twice.
        number: RawFd,
    },
    /// The number is over the limit on open files.
    #[error("descriptor number {number} is not below the limit of {limit} open files; raise it with `ulimit -n`")]
    NumberOverLimit {
        /// The number asked for.
        number: RawFd,
        /// The soft `RLIMIT_NOFILE`.
        limit: u64,
    },
    /// The parent did not hand a descriptor over under this number, or it was taken already.
    #[error("descriptor number {number} was not handed to this process by its parent, or was taken before")]
    NotInherited {
        /// The number asked for.
        number: RawFd,
    },
    /// The other end of a channel was made by somebody else than the parent of this process.
    #[error(
        "the channel under number {number} is of process {pid} of user {uid}, which is not the parent of this process"
    )]
    NotTheParent {
        /// The number of the channel's descriptor.
        number: RawFd,
        /// The process that made it, or 0 if it is not visible here.
        pid: u32,
        /// Its user.
        uid: u32,
    },
    /// Nobody proved over a channel to be the parent of this process.
    #[error("nobody proved over the channel under number {number} to be the parent of this process")]
    Unproven {
        /// The number of the channel's descriptor.
        number: RawFd,
    },
    /// A channel between parent and child failed.
    #[error("a channel between parent and child failed")]
    Channel(#[from] IpcError),
    /// A process with several threads was to be forked without an exec.
    #[error(
        "a process of {threads} threads cannot be forked without an exec: the others would be missing in the child"
    )]
    Threads {
        /// How many threads it has.
        threads: usize,
    },
    /// The deadline passed first.
    #[error("the deadline passed while waiting for a child")]
    TimedOut,
    /// All children have been reaped and there is no descriptor, so the wait would never end.
    #[error("there is no running child and no descriptor to wait for")]
    NothingToWatch,
    /// The status of the child could not be read, for example because somebody else reaped it.
    #[error("cannot learn how process {pid} ended")]
    Status {
        /// The process.
        pid: u32,
        /// What the operating system said.
        source: io::Error,
    },
    /// The child could not be killed, for example because it runs as another user by now.
    #[error("cannot kill process {pid}")]
    Kill {
        /// The process.
        pid: u32,
        /// What the operating system said.
        source: io::Error,
    },
    /// A system call failed.
    #[error("{call} failed")]
    System {
        /// The system call.
        call: &'static str,
        /// Its error number.
        source: Errno,
    },
}

impl ChildError {
    pub(super) fn from_call(call: &'static str) -> impl FnOnce(Errno) -> Self {
        move |source| Self::System { call, source }
    }

    pub(super) fn from_start(path: PathBuf, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound => Self::ExecutableMissing { path, source },
            _ => Self::Start { path, source },
        }
    }
}
