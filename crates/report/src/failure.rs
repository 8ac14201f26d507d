//! Why a run did not succeed.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::account::Account;
use crate::exit_code::ExitCode;

/// The kind of a failure; each has its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The command was asked for something that cannot be.
    Usage,
    /// A limit of this host: open files, memory.
    Limit,
    /// A failure of the operating system or of peermap's own processes.
    Unexpected,
    /// Memory did not hold what it should.
    Mismatch,
    /// The backend, or a device that can be used, is missing.
    Backend,
    /// A worker's process ended before its work did.
    WorkerDied,
    /// The process of the simulated machine ended before the run did.
    MachineDied,
    /// The time ran out.
    TimedOut,
    /// The simulator does not model what was asked.
    NotModelled,
    /// A driver call failed.
    Driver,
    /// Work on a device faulted.
    DeviceFault,
    /// A check of the simulator found a mistake in a kernel.
    Finding,
    /// Memory of the simulated machine was not given back, or was taken away while somebody still used it.
    Memory,
}

impl FailureKind {
    /// The exit code that follows.
    #[must_use]
    pub const fn exit_code(self) -> ExitCode {
        match self {
            Self::Usage => ExitCode::Usage,
            Self::Limit | Self::Unexpected => ExitCode::Unexpected,
            Self::Mismatch => ExitCode::Mismatch,
            Self::Backend => ExitCode::BackendUnavailable,
            Self::WorkerDied | Self::MachineDied | Self::TimedOut => ExitCode::WorkerLost,
            Self::NotModelled => ExitCode::NotModelled,
            Self::Driver => ExitCode::DriverError,
            Self::DeviceFault => ExitCode::DeviceFault,
            Self::Finding | Self::Memory => ExitCode::Finding,
        }
    }
}

/// Why a run did not succeed, with all that is known about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// The worker that it happened to; `None`: the parent.
    pub worker: Option<u32>,
    /// The process of that worker.
    pub pid: Option<u32>,
    /// The step in which it happened.
    pub step: Option<String>,
    /// What happened, in one line.
    pub message: String,
    /// The exit code that follows.
    pub exit_code: u8,
    /// The driver call that failed, by CUDA's name.
    pub call: Option<String>,
    /// The rule that was broken, if the backend can tell.
    pub rule: Option<String>,
    /// Where memory differed.
    pub mismatch: Option<Mismatch>,
    /// What the simulated machine told of its memory when that happened, if there is one.
    #[serde(default)]
    pub memory: Option<Account>,
}

/// Memory that did not hold what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mismatch {
    /// The worker that looked.
    pub worker: u32,
    /// The buffer in which it looked.
    pub buffer: u32,
    /// The lowest wrong offset, in bytes.
    pub offset: u64,
    /// The byte that should be there.
    pub expected: u8,
    /// The byte that is there.
    pub got: u8,
    /// How many bytes of the buffer are wrong.
    pub wrong_bytes: u64,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { worker, buffer, offset, expected, got, wrong_bytes } = self;
        write!(
            f,
            "worker {worker} found {got:#04x} instead of {expected:#04x} at offset {offset} of buffer {buffer} \
             ({wrong_bytes} wrong bytes in all)"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_failure_has_its_exit_code() {
        for (kind, code) in [
            (FailureKind::Usage, 2),
            (FailureKind::Limit, 1),
            (FailureKind::Unexpected, 1),
            (FailureKind::Mismatch, 11),
            (FailureKind::Backend, 12),
            (FailureKind::WorkerDied, 13),
            (FailureKind::MachineDied, 13),
            (FailureKind::TimedOut, 13),
            (FailureKind::NotModelled, 14),
            (FailureKind::Driver, 16),
            (FailureKind::DeviceFault, 17),
            (FailureKind::Finding, 18),
            (FailureKind::Memory, 18),
        ] {
            assert_eq!(kind.exit_code().code(), code, "{kind:?}");
        }
    }

    #[test]
    fn a_mismatch_says_worker_buffer_offset_expected_and_got() {
        let mismatch = Mismatch { worker: 3, buffer: 5, offset: 4096, expected: 6, got: 0, wrong_bytes: 12 };
        assert_eq!(
            mismatch.to_string(),
            "worker 3 found 0x00 instead of 0x06 at offset 4096 of buffer 5 (12 wrong bytes in all)"
        );
    }
}
