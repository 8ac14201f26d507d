//! Why a run did not begin or did not succeed, and the exit code that follows.

use std::error::Error;
use std::path::PathBuf;

use peermap_driver::{ByteSize, Call, CuResult, DriverError};
use peermap_ipc::{BarrierError, ChildError, Exit, IpcError, LimitError};
use peermap_report::{ExitCode, Failure, FailureKind, Mismatch, RejectedDevice};
use serde::{Deserialize, Serialize};

use crate::backend::BackendError;
use crate::devices::{DeviceChoice, MAX_DEVICES};
use crate::messages::Step;

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

/// What was asked for and cannot be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UsageError {
    /// A size of zero.
    #[error("a buffer of 0 bytes holds nothing; use a --size such as 4MiB")]
    ZeroSize,
    /// No worker at all.
    #[error("0 processes per device do nothing; use --processes-per-device 1 or more")]
    ZeroProcesses,
    /// No time at all.
    #[error("a timeout of 0 ends every run; use a --timeout of 1 second or more")]
    ZeroTimeout,
    /// A size that the device cannot map.
    #[error(
        "{size} is no multiple of the granularity, which is {granularity}; the next size that fits is {}",
        shown(next)
    )]
    Granularity {
        /// What was asked for.
        size: ByteSize,
        /// The granularity of the device.
        granularity: ByteSize,
        /// The next multiple; `None`: it does not fit 64 bits.
        next: Option<ByteSize>,
    },
    /// More than the device that holds the buffers has.
    #[error("{workers} buffers of {size} do not fit the {total} of {device}; use a --size of at most {}", shown(most))]
    LargerThanDevice {
        /// How many buffers there are.
        workers: u32,
        /// The size of one.
        size: ByteSize,
        /// The device.
        device: String,
        /// What it has.
        total: ByteSize,
        /// The largest size that fits.
        most: Option<ByteSize>,
    },
    /// More than this host can back.
    #[error(
        "{workers} buffers of {size} do not fit the {limit} of memory that this host can back; \
         use a --size of at most {}",
        shown(most)
    )]
    LargerThanHost {
        /// How many buffers there are.
        workers: u32,
        /// The size of one.
        size: ByteSize,
        /// What the host can back.
        limit: ByteSize,
        /// The largest size that fits.
        most: Option<ByteSize>,
    },
    /// A device that is not there.
    #[error("there is no {choice}; the devices are {}", known.join(", "))]
    UnknownDevice {
        /// What was asked for.
        choice: DeviceChoice,
        /// What there is.
        known: Vec<String>,
    },
    /// A device that was named twice.
    #[error("{device} is named twice in --devices; name it once and use --processes-per-device")]
    DuplicateDevice {
        /// The device.
        device: String,
    },
    /// More devices than there are.
    #[error("{asked} devices are named in --devices, but there are {there}")]
    TooManyDevices {
        /// How many were asked for.
        asked: usize,
        /// How many there are.
        there: usize,
    },
    /// More devices than a run can have.
    #[error("{asked} devices are named in --devices; at most {MAX_DEVICES} can take part")]
    OverMaximum {
        /// How many were asked for.
        asked: usize,
    },
    /// An empty list of devices.
    #[error("--devices names no device; leave it out to use all")]
    NoDevices,
    /// More workers than a barrier can have.
    #[error("{workers} workers are more than the {max} that can take part; use fewer --processes-per-device")]
    TooManyWorkers {
        /// How many were asked for.
        workers: u64,
        /// How many can take part.
        max: u32,
    },
    /// Ids that do not fit a byte.
    #[error("the ids of {workers} workers do not fit one byte; use --fill pattern")]
    IdsDoNotFit {
        /// How many workers there are.
        workers: u32,
    },
    /// A folder without kernels.
    #[error("{folder} has neither {name}.ptx nor {name}.cubin; name the folder that has one with --kernels", folder = folder.display())]
    NoKernels {
        /// The folder.
        folder: PathBuf,
        /// The name of the kernels.
        name: &'static str,
    },
}

fn shown(size: &Option<ByteSize>) -> String {
    size.map_or_else(|| "none".to_owned(), |size| size.to_string())
}

fn reasons(rejected: &[RejectedDevice]) -> String {
    match rejected {
        [] => "there is none".to_owned(),
        some => some.iter().map(|one| format!("{}: {}", one.device, one.reason)).collect::<Vec<_>>().join("; "),
    }
}

/// What a worker says when it cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complaint {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What happened, in one line.
    pub message: String,
    /// The driver call that failed, by CUDA's name.
    pub call: Option<String>,
    /// The rule that was broken, if the backend can tell.
    pub rule: Option<String>,
}

impl std::fmt::Display for Complaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.call {
            Some(call) => write!(f, "{call}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl RunError {
    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Usage(_) => FailureKind::Usage,
            Self::Limit(_) => FailureKind::Limit,
            Self::NoUsableDevice { .. } | Self::Backend(_) => FailureKind::Backend,
            Self::Spawn { .. } | Self::Watch { .. } | Self::Channel { .. } | Self::Barrier { .. } => {
                FailureKind::Unexpected
            }
            Self::WorkerDied { .. } => FailureKind::WorkerDied,
            Self::TimedOut { .. } => FailureKind::TimedOut,
            Self::Mismatch { .. } => FailureKind::Mismatch,
            Self::Driver { source, .. } => kind_of_driver_error(source),
            Self::Worker { complaint, .. } => complaint.kind,
        }
    }

    /// The exit code of the command.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        self.kind().exit_code()
    }

    /// The same as part of a report.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let kind = self.kind();
        let mut failure = Failure {
            kind,
            worker: None,
            pid: None,
            step: None,
            message: one_line(self),
            exit_code: kind.exit_code().code(),
            call: None,
            rule: None,
            mismatch: None,
        };
        match self {
            Self::WorkerDied { worker, pid, step, .. } | Self::TimedOut { worker, pid, step } => {
                failure.at(*worker, Some(*pid), Some(*step));
            }
            Self::Worker { worker, pid, step, complaint } => {
                failure.at(*worker, Some(*pid), Some(*step));
                failure.call.clone_from(&complaint.call);
                failure.rule.clone_from(&complaint.rule);
            }
            Self::Mismatch { mismatch, pid } => {
                failure.at(mismatch.worker, Some(*pid), Some(Step::Verify(mismatch.buffer)));
                failure.mismatch = Some(*mismatch);
            }
            Self::Spawn { worker, .. } | Self::Channel { worker, .. } => failure.at(*worker, None, None),
            Self::Driver { step, call, source } => {
                failure.step = Some((*step).to_owned());
                failure.call = call.map(|call| call.name().to_owned());
                failure.rule = source.rule().map(|rule| rule.to_string());
            }
            Self::Usage(_)
            | Self::Limit(_)
            | Self::NoUsableDevice { .. }
            | Self::Backend(_)
            | Self::Watch { .. }
            | Self::Barrier { .. } => {}
        }
        failure
    }
}

/// Says where a failure happened.
trait At {
    fn at(&mut self, worker: u32, pid: Option<u32>, step: Option<Step>);
}

impl At for Failure {
    fn at(&mut self, worker: u32, pid: Option<u32>, step: Option<Step>) {
        self.worker = Some(worker);
        self.pid = pid;
        self.step = step.map(|step| step.to_string());
    }
}

/// The kind of failure that an answer of a driver is.
pub(crate) fn kind_of_driver_error(error: &DriverError) -> FailureKind {
    match error {
        DriverError::NotModelled { .. } => FailureKind::NotModelled,
        DriverError::Host { .. } => FailureKind::Limit,
        DriverError::Refused { result, .. } if is_device_fault(*result) => FailureKind::DeviceFault,
        DriverError::Refused { .. } | DriverError::WouldCrash { .. } => FailureKind::Driver,
    }
}

/// Whether a code says that work on a device went wrong, as opposed to a call.
fn is_device_fault(result: CuResult) -> bool {
    const FAULTS: &[CuResult] = &[
        CuResult::ECC_UNCORRECTABLE,
        CuResult::NVLINK_UNCORRECTABLE,
        CuResult::CONTAINED,
        CuResult::ILLEGAL_ADDRESS,
        CuResult::LAUNCH_TIMEOUT,
        CuResult::ASSERT,
        CuResult::HARDWARE_STACK_ERROR,
        CuResult::ILLEGAL_INSTRUCTION,
        CuResult::MISALIGNED_ADDRESS,
        CuResult::INVALID_ADDRESS_SPACE,
        CuResult::INVALID_PC,
        CuResult::LAUNCH_FAILED,
    ];
    FAULTS.contains(&result)
}

/// An error and all its causes in one line.
#[must_use]
pub fn one_line(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        // Some errors show their cause themselves.
        if !line.ends_with(&text) {
            line = format!("{line}: {text}");
        }
        cause = error.source();
    }
    line.replace('\n', " ")
}

#[cfg(test)]
mod tests {
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
            (RunError::TimedOut { worker: 1, pid: 2, step: Step::Init }, 13),
            (driver_error(DriverError::NotModelled { what: "cubin".to_owned() }), 14),
            (driver_error(DriverError::refused(CuResult::OUT_OF_MEMORY)), 16),
            (driver_error(DriverError::refused(CuResult::ILLEGAL_ADDRESS)), 17),
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
    fn a_wrong_size_names_the_granularity_and_the_next_size() {
        let error = UsageError::Granularity {
            size: ByteSize::mib(3),
            granularity: ByteSize::mib(2),
            next: Some(ByteSize::mib(4)),
        };
        assert_eq!(
            error.to_string(),
            "3 MiB is no multiple of the granularity, which is 2 MiB; the next size that fits is 4 MiB"
        );
    }

    #[test]
    fn causes_stand_in_the_same_line() {
        let error = RunError::from(BackendError::new("cuda", "no libcuda.so.1"));
        assert_eq!(one_line(&error), "the backend cuda is not available: no libcuda.so.1");
    }
}
