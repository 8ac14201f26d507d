//! The worker's side of every scenario.

use std::time::{Duration, Instant};

use peermap_driver::{AccessFlags, Device, Driver, DriverError, Uuid};
use peermap_ipc::{Barrier, BarrierError, Channel, Deadline, IpcError, Member, ShmError};
use peermap_report::{FailureKind, Phases};

use crate::access::{self, Deed, Right};
use crate::calls::{CallRecorder, Recorded};
use crate::devices::find_device;
use crate::error::{Complaint, kind_of_driver_error, one_line};
use crate::grow;
use crate::kernels::KernelError;
use crate::memmap_ipc;
use crate::messages::{Role, Start, Step};
use crate::multicast;
use crate::pool_ipc;
use crate::post::{Order, Post};
use crate::probe;
use crate::simple_ipc;
use crate::timing::ms_since;
use crate::watched::watched;

/// Why a worker cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkerError {
    #[error("the driver cannot be opened: {reason}")]
    Open { reason: String },
    #[error("the driver cannot be initialised")]
    Init { source: DriverError },
    #[error("there is no device {uuid} in this process")]
    NoDevice { uuid: Uuid },
    #[error(transparent)]
    Driver(#[from] DriverError),
    #[error("{log}")]
    Jit { log: String, source: DriverError },
    #[error(transparent)]
    Kernels(#[from] KernelError),
    #[error("the barrier failed")]
    Barrier(#[from] BarrierError),
    #[error("the parent sent no barrier")]
    NoBarrier,
    #[error("the parent sent no handles")]
    NoHandles,
    #[error("the handles of the parent cannot be read")]
    Handles(#[from] ShmError),
    #[error("{workers} buffers of {size} bytes do not fit the address space")]
    TooLarge { workers: u32, size: u64 },
    #[error("the driver says that {device} has the rights {said}, and it was given {given}")]
    RightsSaid { device: Device, said: AccessFlags, given: AccessFlags },
    #[error("{deed} succeeded, and the rights ({right}) forbid it")]
    Permitted { right: Right, deed: Deed },
    #[error("{deed} failed, and the rights ({right}) permit it")]
    Forbidden { right: Right, deed: Deed, source: DriverError },
    #[error("rank {rank} came to the norm {norm}, and the right one is {expected}")]
    Norm { rank: u32, norm: f32, expected: f32 },
    #[error("the vector grew although its call {call} was refused")]
    RefusalLost { call: u32 },
    #[error("{copies} driver calls of the vector moved bytes, and it must not copy")]
    Copied { copies: u64 },
    #[error("the channel to the parent failed")]
    Channel(#[from] IpcError),
}

impl WorkerError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Open { .. } | Self::Init { .. } | Self::NoDevice { .. } => FailureKind::Backend,
            Self::Driver(source) | Self::Jit { source, .. } => kind_of_driver_error(source),
            Self::Barrier(BarrierError::MemberDied { .. }) => FailureKind::WorkerDied,
            Self::Barrier(BarrierError::TimedOut { .. }) | Self::Channel(IpcError::TimedOut) => FailureKind::TimedOut,
            Self::Channel(IpcError::DescriptorsTruncated { .. } | IpcError::OpenFilesExhausted { .. }) => {
                FailureKind::Limit
            }
            Self::RightsSaid { .. } | Self::Permitted { .. } | Self::Forbidden { .. } | Self::Norm { .. } => {
                FailureKind::Mismatch
            }
            Self::Kernels(_)
            | Self::RefusalLost { .. }
            | Self::Copied { .. }
            | Self::Barrier(_)
            | Self::NoBarrier
            | Self::NoHandles
            | Self::Handles(_)
            | Self::TooLarge { .. }
            | Self::Channel(_) => FailureKind::Unexpected,
        }
    }

    fn driver_error(&self) -> Option<&DriverError> {
        match self {
            Self::Driver(source) | Self::Jit { source, .. } | Self::Init { source } => Some(source),
            _ => None,
        }
    }

    /// The same for the parent; `call` is the driver call that failed, if it was one.
    fn complaint(&self, call: Option<peermap_driver::Call>) -> Complaint {
        Complaint {
            kind: self.kind(),
            message: one_line(self),
            call: call.map(|call| call.name().to_owned()),
            rule: self.driver_error().and_then(DriverError::rule).map(|rule| rule.to_string()),
        }
    }
}

/// The worker's side of a run. The command's hidden worker subcommand calls it with the channel that it inherited as
/// descriptor 3, and with a way to open its driver.
///
/// Opens and initialises the driver, tells the parent, and does what the parent orders. Gives the exit code of the process:
/// 0 if all was done or nothing was to be done, and 1 if something failed, which the parent then knows.
pub fn worker_main(channel: Channel, open: impl FnOnce() -> Result<Box<dyn Driver>, String>) -> i32 {
    let mut post = Post::new(channel);
    let begun = Instant::now();
    let driver = match open() {
        Ok(driver) => driver,
        Err(reason) => return complain(&mut post, &[], WorkerError::Open { reason }.complaint(None)),
    };
    // Whether calls are to be recorded stands in the order, and the first call comes before that.
    let recorded = Recorded::new(&*driver, CallRecorder::new(true));
    let driver = watched(&recorded);
    match serve(&mut post, &driver, recorded.interceptor(), begun) {
        Ok(()) => 0,
        Err(error) => {
            let call = error.driver_error().and_then(|error| driver.interceptor().call_of(error));
            complain(&mut post, &recorded.interceptor().bytes(), error.complaint(call))
        }
    }
}

fn complain(post: &mut Post, calls: &[u8], complaint: Complaint) -> i32 {
    // A parent that is gone cannot hear it, and nobody else is there.
    let _ = post.calls(calls).and_then(|()| post.failed(complaint));
    1
}

fn serve(post: &mut Post, driver: &dyn Driver, recorder: &CallRecorder, begun: Instant) -> Result<(), WorkerError> {
    driver.init(0).map_err(|source| WorkerError::Init { source })?;
    let init_ms = ms_since(begun);
    post.ready(init_ms)?;
    let Order::Start(start, barrier) = post.order()? else { return Ok(()) };
    if !start.record_calls {
        recorder.stop();
    }
    let deadline = Deadline::after(Duration::from_millis(start.time_left_ms));
    // Before anything that can fail: the parent waits for the receipt, and would take a complaint for a wrong one.
    let descriptors = match start.descriptors {
        0 => Vec::new(),
        count => post.descriptors(count as usize, deadline)?,
    };
    let device = match start.device {
        Some(uuid) => find_device(driver, uuid)?.ok_or(WorkerError::NoDevice { uuid })?,
        None => driver.device_get(0)?,
    };
    let mut station = Station::new(driver, device, post, &start, deadline, init_ms);
    let member = barrier.map(|fd| Barrier::join(fd, start.worker, start.workers)).transpose()?;
    let member = || member.ok_or(WorkerError::NoBarrier);
    let done = match start.role {
        Role::MemmapIpc(task) => memmap_ipc::work(&mut station, member()?, descriptors, &task)?,
        Role::SimpleIpc(task) => simple_ipc::work(&mut station, member()?, descriptors, &task)?,
        Role::PoolIpc(task) => pool_ipc::work(&mut station, member()?, descriptors, &task)?,
        Role::Access(task) => access::work(&mut station, member()?, descriptors, &task)?,
        Role::Multicast(task) => multicast::work(&mut station, member()?, descriptors, &task)?,
        Role::Grow(task) => grow::work(&mut station, &task)?,
        Role::Probe => probe::work(&mut station)?,
    };
    if start.record_calls {
        post.calls(&recorder.bytes())?;
    }
    post.done(done)?;
    Ok(())
}

/// What a role needs: its driver, its device, who it is, its parent, its time.
pub(crate) struct Station<'a> {
    pub(crate) driver: &'a dyn Driver,
    pub(crate) device: Device,
    pub(crate) worker: u32,
    pub(crate) workers: u32,
    pub(crate) deadline: Deadline,
    pub(crate) phases: Phases,
    post: &'a mut Post,
}

impl<'a> Station<'a> {
    fn new(
        driver: &'a dyn Driver,
        device: Device,
        post: &'a mut Post,
        start: &Start,
        deadline: Deadline,
        init_ms: f64,
    ) -> Self {
        let mut phases = Phases::default();
        phases.add("init", init_ms);
        Self { driver, device, worker: start.worker, workers: start.workers, deadline, phases, post }
    }

    /// Tells the parent which step begins.
    pub(crate) fn begin(&mut self, step: Step) -> Result<(), WorkerError> {
        Ok(self.post.step(step)?)
    }

    /// Tells the parent something for who wants to know more.
    pub(crate) fn note(&mut self, text: String) -> Result<(), WorkerError> {
        Ok(self.post.note(text)?)
    }

    /// Counts the time of `work` to a phase.
    pub(crate) fn phase<T>(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut Self) -> Result<T, WorkerError>,
    ) -> Result<T, WorkerError> {
        let begun = Instant::now();
        let result = work(self)?;
        self.phases.add(name, ms_since(begun));
        Ok(result)
    }

    /// Waits for all others.
    pub(crate) fn meet(&mut self, member: &mut Member, step: Step) -> Result<(), WorkerError> {
        self.begin(step)?;
        Ok(member.wait(self.deadline)?)
    }
}
