//! How a run gets its drivers.

use std::error::Error;
use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use peermap_driver::{ByteSize, Call, Driver, DriverError, Uuid};
use peermap_ipc::{Channel, Child, Deadline, Exit, Tap};
use peermap_report::Account;

/// How a run gets its drivers. The command has one for each backend.
pub trait Backend {
    /// The name of the backend: `sim` or `cuda`.
    fn name(&self) -> &'static str;

    /// The name of the simulated machine, if it is one.
    fn profile(&self) -> Option<&str>;

    /// The driver of the calling process, which is the parent. It is not initialised yet.
    ///
    /// # Errors
    /// [`BackendError`] if there is none on this host.
    fn driver(&self) -> Result<Box<dyn Driver>, BackendError>;

    /// What worker `worker` needs in order to open a driver of its own. May be asked for a number again after the worker
    /// of that number has ended.
    ///
    /// # Errors
    /// [`BackendError`] if it cannot be made.
    fn worker(&self, worker: u32) -> Result<WorkerEndpoint, BackendError>;

    /// The same for a worker that must be on the node of a device, if the devices of this backend sit on several nodes.
    ///
    /// # Errors
    /// As [`Self::worker`].
    fn worker_beside(&self, worker: u32, _device: Uuid) -> Result<WorkerEndpoint, BackendError> {
        self.worker(worker)
    }

    /// How many devices there probably are, before anything is initialised. A wrong number costs time, nothing else.
    fn expected_devices(&self) -> usize;

    /// How many bytes of device memory this host can back, if that is less than the devices say.
    fn memory_limit(&self) -> Option<ByteSize>;

    /// Whoever plays the workers, where they are no processes of their own.
    fn troupe(&self) -> Option<&dyn Troupe> {
        None
    }

    /// Whoever decides what becomes of the messages that the parent sends to its workers.
    fn tap(&self) -> Option<Arc<dyn Tap>> {
        None
    }

    /// What there is to tell of the memory that all drivers of this backend share, if somebody knows and says it in time.
    fn account(&self, _deadline: Deadline) -> Option<Account> {
        None
    }

    /// What becomes readable when the process ends that all drivers of this backend need, if there is such a process.
    fn lifeline(&self) -> Option<OwnedFd> {
        None
    }

    /// The end of the process that all drivers of this backend need, if there is such a process and it has ended. One that answers nobody
    /// is ended by this. Asked after a failure, to tell what it follows from.
    fn end_of_machine(&self) -> Option<EndOfMachine> {
        None
    }
}

/// Plays workers.
pub trait Troupe {
    /// Has a worker played, whose end of the channel of the run is `channel`.
    ///
    /// # Errors
    /// [`BackendError`] if it cannot be.
    fn play(&self, worker: u32, channel: Channel) -> Result<Child, BackendError>;
}

/// How the process of a simulated machine ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndOfMachine {
    /// The process.
    pub pid: u32,
    /// How it ended.
    pub how: Exit,
    /// Whether it was killed because it did not answer.
    pub was_silent: bool,
}

impl fmt::Display for EndOfMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pid, how, was_silent } = self;
        match was_silent {
            true => write!(f, "the simulated machine (pid {pid}) did not answer and was ended"),
            false => write!(f, "the simulated machine (pid {pid}) died: {how}"),
        }
    }
}

/// What a worker process gets in order to open its driver.
#[derive(Debug, Default)]
pub struct WorkerEndpoint {
    /// Arguments that follow those of the [`Launcher`](crate::Launcher).
    pub args: Vec<String>,
    /// Environment variables that make the driver quicker for a worker of a run. A process that measures what the driver
    /// takes by itself goes without them, even if this one has them.
    pub tuning: Vec<(String, String)>,
    /// Descriptors to inherit, and their numbers in the worker. Numbers start at 4: 3 is the channel of the run.
    pub descriptors: Vec<(OwnedFd, i32)>,
}

/// A backend that is not available.
#[derive(Debug, thiserror::Error)]
#[error("the backend {backend} is not available{}", call.map(|call| format!(": {call} fails in the parent")).unwrap_or_default())]
pub struct BackendError {
    backend: &'static str,
    /// The call that failed, if it was a call.
    call: Option<Call>,
    source: Box<dyn Error + Send + Sync>,
}

impl BackendError {
    /// The backend of this name is not available because of `source`.
    pub fn new(backend: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { backend, call: None, source: source.into() }
    }

    /// The backend of this name is not available because its driver refuses `cuInit` to the parent.
    pub(crate) fn init(backend: &'static str, source: DriverError) -> Self {
        Self { backend, call: Some(Call::cuInit), source: source.into() }
    }

    /// The call that failed, if it was a call.
    pub(crate) fn call(&self) -> Option<Call> {
        self.call
    }
}
