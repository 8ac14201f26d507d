//! Why a run did not begin or did not succeed, and the exit code that follows.

mod complaint;
mod usage;

use peermap_driver::{Call, DriverError};
use peermap_ipc::{BarrierError, ChildError, Exit, IpcError, LimitError, ShmError};
use peermap_report::{ExitCode, Failure, FailureKind, Mismatch, RejectedDevice, Rejection, device_list};

use crate::backend::{BackendError, EndOfMachine};
use crate::messages::Step;

pub(crate) use complaint::kind_of_driver_error;
pub use complaint::{Complaint, one_line};
pub use usage::UsageError;

/// Why a run did not begin or did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// What was asked for cannot be.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// This host does not allow enough.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// No device can take part, or one that was asked for cannot.
    #[error("no usable device: {}", reasons(rejected))]
    NoUsableDevice {
        /// Each device with its reason.
        rejected: Vec<RejectedDevice>,
    },
    /// The backend is not available.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// A worker could not be started.
    #[error("worker {worker} cannot be started")]
    Spawn {
        /// The worker.
        worker: u32,
        /// Why.
        source: ChildError,
    },
    /// The workers cannot be watched.
    #[error("the workers cannot be watched")]
    Watch {
        /// Why.
        source: ChildError,
    },
    /// Messages to or from a worker fail.
    #[error("the channel to worker {worker} fails")]
    Channel {
        /// The worker.
        worker: u32,
        /// How.
        source: IpcError,
    },
    /// The barrier of the workers could not be made.
    #[error("the barrier of the workers cannot be made")]
    Barrier {
        /// Why.
        source: BarrierError,
    },
    /// The shared memory of the workers could not be made.
    #[error("the shared memory of the workers cannot be made")]
    SharedMemory {
        /// Why.
        source: ShmError,
    },
    /// A worker's process ended before its work did.
    #[error("worker {worker} (pid {pid}) died in step {step:?}: {how}", step = step.to_string())]
    WorkerDied {
        /// The worker.
        worker: u32,
        /// Its process.
        pid: u32,
        /// How it ended.
        how: Exit,
        /// The last step that it began.
        step: Step,
    },
    /// The process of the simulated machine ended before the run did.
    #[error("{_0}")]
    MachineDied(EndOfMachine),
    /// The same, before it is known how.
    #[error("the simulated machine died")]
    MachineLost,
    /// All went well, and memory was not given back in the end, or was taken away while somebody still used it.
    #[error("memory of the simulated machine was not given back, or was used when it went: {what}")]
    Memory {
        /// The worker that left it, if it was one.
        worker: Option<u32>,
        /// Its process.
        pid: Option<u32>,
        /// What there is to tell of it.
        what: String,
    },
    /// The time ran out.
    #[error(
        "the time ran out: worker {worker} (pid {pid}) is in step {step:?}; allow more with --timeout",
        step = step.to_string()
    )]
    TimedOut {
        /// The worker that is behind all others.
        worker: u32,
        /// Its process.
        pid: u32,
        /// The last step that it began.
        step: Step,
    },
    /// A buffer does not hold what it should.
    #[error("mismatch: {mismatch}")]
    Mismatch {
        /// Where.
        mismatch: Mismatch,
        /// The process of the worker that found it.
        pid: u32,
    },
    /// A driver call of the parent failed.
    #[error("{} failed in the parent, step {step:?}: {source}", call.map_or("a driver call", Call::name))]
    Driver {
        /// What the parent was doing.
        step: &'static str,
        /// The call.
        call: Option<Call>,
        /// What the driver answered.
        source: DriverError,
    },
    /// A worker reported that it cannot go on.
    #[error("worker {worker} (pid {pid}) failed in step {step:?}: {complaint}", step = step.to_string())]
    Worker {
        /// The worker.
        worker: u32,
        /// Its process.
        pid: u32,
        /// The last step that it began.
        step: Step,
        /// What it said.
        complaint: Complaint,
    },
}

fn reasons(rejected: &[RejectedDevice]) -> String {
    if rejected.is_empty() {
        return "there is none".to_owned();
    }
    let shown = |one: &Rejection| format!("{}: {}", device_list(&one.devices), one.reason);
    Rejection::fold(rejected).iter().map(shown).collect::<Vec<_>>().join("; ")
}

impl RunError {
    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Usage(_) => FailureKind::Usage,
            Self::Limit(_) => FailureKind::Limit,
            Self::NoUsableDevice { .. } | Self::Backend(_) => FailureKind::Backend,
            Self::Spawn { .. }
            | Self::Watch { .. }
            | Self::Channel { .. }
            | Self::Barrier { .. }
            | Self::SharedMemory { .. } => FailureKind::Unexpected,
            Self::WorkerDied { .. } => FailureKind::WorkerDied,
            Self::MachineDied(_) | Self::MachineLost => FailureKind::MachineDied,
            Self::TimedOut { .. } => FailureKind::TimedOut,
            Self::Mismatch { .. } => FailureKind::Mismatch,
            Self::Memory { .. } => FailureKind::Memory,
            Self::Driver { source, .. } => kind_of_driver_error(source),
            Self::Worker { complaint, .. } => complaint.kind,
        }
    }

    /// Whether it can follow from the end of the machine that all drivers need.
    pub(crate) fn may_follow(&self) -> bool {
        use FailureKind::{Backend, Limit, TimedOut, Unexpected, WorkerDied};
        matches!(self, Self::MachineLost) || matches!(self.kind(), Backend | Limit | TimedOut | Unexpected | WorkerDied)
    }

    /// The exit code of the command.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        self.kind().exit_code()
    }

    /// The same as part of a report.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let (call, rule) = match self {
            Self::Driver { call, source, .. } => {
                (call.map(|call| call.name().to_owned()), source.rule().map(|rule| rule.to_string()))
            }
            Self::Worker { complaint, .. } => (complaint.call.clone(), complaint.rule.clone()),
            Self::Backend(error) => (error.call().map(|call| call.name().to_owned()), None),
            _ => (None, None),
        };
        let mismatch = match self {
            Self::Mismatch { mismatch, .. } => Some(*mismatch),
            _ => None,
        };
        let (kind, message, exit_code) = (self.kind(), one_line(self), self.exit_code().code());
        let (worker, pid, step) = (self.worker(), self.pid(), self.step());
        Failure { kind, worker, pid, step, message, exit_code, call, rule, mismatch, memory: None }
    }

    /// The worker that it is about.
    fn worker(&self) -> Option<u32> {
        match self {
            Self::WorkerDied { worker, .. }
            | Self::TimedOut { worker, .. }
            | Self::Worker { worker, .. }
            | Self::Spawn { worker, .. }
            | Self::Channel { worker, .. } => Some(*worker),
            Self::Mismatch { mismatch, .. } => Some(mismatch.worker),
            Self::Memory { worker, .. } => *worker,
            _ => None,
        }
    }

    fn pid(&self) -> Option<u32> {
        match self {
            Self::WorkerDied { pid, .. }
            | Self::TimedOut { pid, .. }
            | Self::Worker { pid, .. }
            | Self::MachineDied(EndOfMachine { pid, .. })
            | Self::Mismatch { pid, .. } => Some(*pid),
            Self::Memory { pid, .. } => *pid,
            _ => None,
        }
    }

    fn step(&self) -> Option<String> {
        match self {
            Self::WorkerDied { step, .. } | Self::TimedOut { step, .. } | Self::Worker { step, .. } => {
                Some(step.to_string())
            }
            Self::Mismatch { mismatch, .. } => Some(Step::Verify(mismatch.buffer).to_string()),
            Self::Driver { step, .. } => Some((*step).to_owned()),
            Self::Backend(error) => error.call().map(|_| Step::Init.to_string()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use peermap_driver::CuResult;

    use super::*;

    fn driver_error(source: DriverError) -> RunError {
        RunError::Driver { step: "create", call: Some(Call::cuMemCreate), source }
    }

    #[test]
    fn each_error_has_its_exit_code() {
        let codes = [
            (RunError::from(UsageError::ZeroSize), 2),
            (LimitError::OpenFiles { needed: 9, soft: 1, hard: 2 }.into(), 1),
            (RunError::NoUsableDevice { rejected: Vec::new() }, 12),
            (BackendError::new("cuda", "no libcuda.so.1").into(), 12),
            (RunError::WorkerDied { worker: 1, pid: 2, how: Exit::Signal(9), step: Step::Fill(3) }, 13),
            (RunError::MachineDied(EndOfMachine { pid: 2, how: Exit::Signal(9), was_silent: false }), 13),
            (RunError::TimedOut { worker: 1, pid: 2, step: Step::Init }, 13),
            (driver_error(DriverError::NotModelled { what: "cubin".to_owned() }), 14),
            (driver_error(DriverError::refused(CuResult::OUT_OF_MEMORY)), 16),
            (driver_error(DriverError::refused(CuResult::ILLEGAL_ADDRESS)), 17),
            (driver_error(DriverError::Finding { what: "a race".to_owned() }), 18),
            (RunError::Memory { worker: Some(1), pid: Some(2), what: "2 MiB".to_owned() }, 18),
            (driver_error(DriverError::Host { what: "memory".to_owned() }), 1),
        ];
        for (error, code) in codes {
            assert_eq!(error.exit_code().code(), code, "{error}");
            assert_eq!(error.failure().exit_code, code, "{error}");
        }
    }

    #[test]
    fn a_dead_worker_is_named_with_its_step() {
        let error = RunError::WorkerDied { worker: 1, pid: 77, how: Exit::Signal(9), step: Step::Fill(3) };
        assert_eq!(error.to_string(), "worker 1 (pid 77) died in step \"fill 3\": killed by SIGKILL");
        let failure = error.failure();
        assert_eq!((failure.worker, failure.pid, failure.step.as_deref()), (Some(1), Some(77), Some("fill 3")));
    }

    #[test]
    fn a_failed_call_is_named_once() {
        let error = driver_error(DriverError::refused(CuResult::OUT_OF_MEMORY));
        assert_eq!(one_line(&error), "cuMemCreate failed in the parent, step \"create\": CUDA_ERROR_OUT_OF_MEMORY");
        assert_eq!(error.failure().call.as_deref(), Some("cuMemCreate"));
    }

    #[test]
    fn causes_stand_in_the_same_line() {
        let error = RunError::from(BackendError::new("cuda", "no libcuda.so.1"));
        assert_eq!(one_line(&error), "the backend cuda is not available: no libcuda.so.1");
        assert_eq!((error.failure().call, error.failure().step), (None, None));
    }

    #[test]
    fn a_parent_whose_driver_does_not_start_names_call_and_step() {
        let error = RunError::from(BackendError::init("cuda", DriverError::refused(CuResult::NO_DEVICE)));
        assert_eq!(
            one_line(&error),
            "the backend cuda is not available: cuInit fails in the parent: CUDA_ERROR_NO_DEVICE"
        );
        let failure = error.failure();
        assert_eq!((failure.call.as_deref(), failure.step.as_deref()), (Some("cuInit"), Some("init")));
    }
}
