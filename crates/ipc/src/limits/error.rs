//! What can go wrong when the host is asked.

use std::io;
use std::path::PathBuf;

use nix::errno::Errno;

/// An error of the functions in [`limits`](super).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// The hard limit on open files is too low.
    #[error(
        "{needed} open files are needed, but this process may have {soft} and raise that to {hard} at most; \
         have the hard limit raised (`ulimit -n {needed}` as root before the start, or `LimitNOFILE` of the service)"
    )]
    OpenFiles {
        /// Files needed.
        needed: u64,
        /// The soft limit.
        soft: u64,
        /// The hard limit.
        hard: u64,
    },
    /// A file of the kernel could not be read.
    #[error("cannot read {path}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file of the kernel has other content than documented.
    #[error("{path} does not hold {what}", path = path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What should be in it.
        what: &'static str,
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
