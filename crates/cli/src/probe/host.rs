//! Limits of the host that bite when memory is shared between processes.

use peermap_ipc::limits;
use serde::Serialize;

/// Limits of this host. What cannot be read is absent.
#[derive(Debug, Serialize)]
pub(super) struct HostFacts {
    pub(super) cores: usize,
    pub(super) open_files_soft: Option<u64>,
    pub(super) open_files_hard: Option<u64>,
    pub(super) shared_memory_bytes: Option<u64>,
    pub(super) shared_memory_free_bytes: Option<u64>,
    /// 0: any process of the user may take descriptors of another; from 1 on only its ancestors.
    pub(super) ptrace_scope: Option<u32>,
    pub(super) available_memory_bytes: Option<u64>,
}

/// Reads the limits.
pub(super) fn find() -> HostFacts {
    let files = limits::open_files().ok();
    let shared = limits::shared_memory_space().ok().flatten();
    HostFacts {
        cores: limits::usable_cores(),
        open_files_soft: files.map(|files| files.soft),
        open_files_hard: files.map(|files| files.hard),
        shared_memory_bytes: shared.map(|space| space.size),
        shared_memory_free_bytes: shared.map(|space| space.free),
        ptrace_scope: limits::ptrace_scope().ok().flatten(),
        available_memory_bytes: limits::available_memory().ok(),
    }
}
