//! Shared memory mount, ptrace, cores.

use std::fs;
use std::io::ErrorKind;

use nix::errno::Errno;
use nix::sys::statvfs::statvfs;

use super::error::LimitError;

const SHARED_MEMORY: &str = "/dev/shm";
const PTRACE_SCOPE: &str = "/proc/sys/kernel/yama/ptrace_scope";

/// The space of a file system.
///
/// # Units
/// Bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// In all.
    pub size: u64,
    /// Free for an ordinary user.
    pub free: u64,
}

/// The space of `/dev/shm`, or `None` if there is no such folder. Libraries such as NCCL use it; peermap does not.
///
/// # Errors
/// [`LimitError::System`].
pub fn shared_memory_space() -> Result<Option<Space>, LimitError> {
    match statvfs(SHARED_MEMORY) {
        Ok(status) => Ok(Some(Space {
            size: status.fragment_size() * status.blocks(),
            free: status.fragment_size() * status.blocks_available(),
        })),
        Err(Errno::ENOENT) => Ok(None),
        Err(source) => Err(LimitError::System { call: "statvfs", source }),
    }
}

/// Who may trace whom, or `None` if the kernel has no Yama. 0: every process of the same user; 1: only ancestors;
/// 2: only administrators; 3: nobody. From 1 on, `pidfd_getfd` between siblings fails too.
///
/// # Errors
/// [`LimitError::Read`], [`LimitError::Content`].
pub fn ptrace_scope() -> Result<Option<u32>, LimitError> {
    let text = match fs::read_to_string(PTRACE_SCOPE) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(LimitError::Read { path: PTRACE_SCOPE.into(), source }),
    };
    match text.trim().parse() {
        Ok(scope) => Ok(Some(scope)),
        Err(_) => Err(LimitError::Content { path: PTRACE_SCOPE.into(), what: "a number" }),
    }
}

/// How many cores this process can use: affinity and the quota of its control group counted in, never less than one.
#[must_use]
pub fn usable_cores() -> usize {
    // An error means that the platform cannot tell; one core is then the safe assumption.
    std::thread::available_parallelism().map_or(1, usize::from)
}
