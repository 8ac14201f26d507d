//! The worker's side of every scenario.

use std::time::{Duration, Instant};

use peermap_driver::{AccessFlags, CuResult, Device, Driver, DriverError, Location, Uuid};
use peermap_ipc::{Barrier, BarrierError, Channel, Deadline, IpcError, ShmError};
use peermap_report::{FailureKind, Phases};

use crate::access::{self, Deed, Right};
use crate::alias::{self, Case};
use crate::calls::{CallRecorder, Recorded};
use crate::devices::find_device;
use crate::error::{Complaint, kind_of_driver_error, one_line};
use crate::fabric;
use crate::grow;
use crate::host_numa::{self, Act};
use crate::kernels::KernelError;
use crate::memmap_ipc;
use crate::messages::{Role, Step};
use crate::multicast;
use crate::pool_ipc;
use crate::post::{Listener, Order, Post};
use crate::probe;
use crate::simple_ipc;
use crate::stripe;
use crate::timing::ms_since;
use crate::transport::{Meet, TransportError};
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
    #[error("the barrier cannot be joined")]
    Barrier(#[from] BarrierError),
    #[error(transparent)]
    Transport(#[from] TransportError),
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
    #[error("the memory of worker {exporter} is out of reach")]
    OutOfReach { exporter: u32, source: DriverError },
    #[error("rank {rank} came to the norm {norm}, and the right one is {expected}")]
    Norm { rank: u32, norm: f32, expected: f32 },
    #[error("the vector grew although its call {call} was refused")]
    RefusalLost { call: u32 },
    #[error("{copies} driver calls moved bytes, and nothing may be copied")]
    Copied { copies: u64 },
    #[error("{wrong} of {words} words were not read as written ({case}), and that is defined")]
    NotAsWritten { case: Case, wrong: u64, words: u64 },
    #[error("memory was used by two addresses in a way that is undefined ({case}), and no check reported it")]
    Unreported { case: Case },
    #[error("the driver says that {location:?} has the rights {said}, and it was given {given}")]
    PlaceRightsSaid { location: Location, said: AccessFlags, given: AccessFlags },
    #[error("a {act} succeeded, and the rights ({right}) forbid it")]
    Reached { right: String, act: Act },
    #[error("stripe {stripe} lies at {location:?}, and was asked to lie on {wanted}")]
    Misplaced { stripe: u32, wanted: Device, location: Location },
    #[error("{words} words of {what} are wrong, the first of them word {first}")]
    WrongWords { what: &'static str, words: u64, first: u64 },
    #[error("the channel to the parent failed")]
    Channel(#[from] IpcError),
}

impl WorkerError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Open { .. } | Self::Init { .. } | Self::NoDevice { .. } => FailureKind::Backend,
            Self::OutOfReach { source, .. } if is_lacking(source) => FailureKind::Backend,
            Self::Driver(source) | Self::Jit { source, .. } | Self::OutOfReach { source, .. } => {
                kind_of_driver_error(source)
            }
            Self::Transport(error) => error.kind(),
            Self::Channel(IpcError::TimedOut) => FailureKind::TimedOut,
            Self::Channel(IpcError::DescriptorsTruncated { .. } | IpcError::OpenFilesExhausted { .. }) => {
                FailureKind::Limit
            }
            Self::RightsSaid { .. }
            | Self::Permitted { .. }
            | Self::Forbidden { .. }
            | Self::NotAsWritten { .. }
            | Self::Unreported { .. }
            | Self::PlaceRightsSaid { .. }
            | Self::Reached { .. }
            | Self::Misplaced { .. }
            | Self::WrongWords { .. }
            | Self::Norm { .. } => FailureKind::Mismatch,
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

    pub(crate) fn driver_error(&self) -> Option<&DriverError> {
        match self {
            Self::Driver(source)
            | Self::Jit { source, .. }
            | Self::Init { source }
            | Self::OutOfReach { source, .. } => Some(source),
            _ => None,
        }
    }

    /// The same for the parent; `call` is the driver call that failed, if it was one.
    pub(crate) fn complaint(&self, call: Option<peermap_driver::Call>) -> Complaint {
        Complaint {
            kind: self.kind(),
            message: one_line(self),
            call: call.map(|call| call.name().to_owned()),
            rule: self.driver_error().and_then(DriverError::rule).map(|rule| rule.to_string()),
        }
    }
}

/// Whether a refusal to import says that the machine lacks something: a channel in common, a domain in common, a daemon.
fn is_lacking(error: &DriverError) -> bool {
    matches!(error.result(), Some(CuResult::NOT_PERMITTED | CuResult::NOT_SUPPORTED | CuResult::INVALID_HANDLE))
}

/// The worker's side of a run. The command's hidden worker subcommand calls it with the channel that it inherited as
/// descriptor 3, and with a way to open its driver.
///
/// Opens and initialises the driver, tells the parent, and does what the parent orders. Gives the exit code of the process:
/// 0 if all was done or nothing was to be done, and 1 if something failed, which the parent then knows.
pub fn worker_main(channel: Channel, open: impl FnOnce() -> Result<Box<dyn Driver>, String>) -> i32 {
    let post = Post::new(channel);
    let begun = Instant::now();
    let driver = match open() {
        Ok(driver) => driver,
        Err(reason) => return complain(&post, &[], WorkerError::Open { reason }.complaint(None)),
    };
    // Whether calls are to be recorded stands in the order, and the first call comes before that.
    let recorded = Recorded::new(&*driver, CallRecorder::new(true));
    let driver = watched(&recorded);
    match serve(&post, &driver, recorded.interceptor(), begun) {
        Ok(()) => 0,
        Err(error) => {
            let call = error.driver_error().and_then(|error| driver.interceptor().call_of(error));
            complain(&post, &recorded.interceptor().bytes(), error.complaint(call))
        }
    }
}

fn complain(post: &Post, calls: &[u8], complaint: Complaint) -> i32 {
    // A parent that is gone cannot hear it, and nobody else is there.
    let _ = post.calls(calls).and_then(|()| post.failed(complaint));
    1
}

fn serve(post: &Post, driver: &dyn Driver, recorder: &CallRecorder, begun: Instant) -> Result<(), WorkerError> {
    driver.init(0).map_err(|source| WorkerError::Init { source })?;
    let init_ms = ms_since(begun);
    post.ready(init_ms)?;
    let Order::Start(start, barrier) = post.order()? else { return Ok(()) };
    if !start.record_calls {
        recorder.stop();
    }
    let deadline = Deadline::after(Duration::from_millis(start.time_left_ms));
    let device = match start.device {
        Some(uuid) => find_device(driver, uuid)?.ok_or(WorkerError::NoDevice { uuid })?,
        None => driver.device_get(0)?,
    };
    let (mut listener, delivery) = (post, post.delivery(deadline));
    let mut station = Station::new(driver, device, &mut listener, (start.worker, start.workers), deadline, init_ms);
    let member = barrier.map(|fd| Barrier::join(fd, start.worker, start.workers)).transpose()?;
    let member = || member.ok_or(WorkerError::NoBarrier);
    let done = match start.role {
        Role::MemmapIpc(task) => memmap_ipc::work(&mut station, member()?, delivery, &task)?,
        Role::SimpleIpc(task) => simple_ipc::work(&mut station, member()?, delivery, &task)?,
        Role::PoolIpc(task) => pool_ipc::work(&mut station, member()?, delivery, &task)?,
        Role::Access(task) => access::work(&mut station, member()?, delivery, &task)?,
        Role::Multicast(task) => multicast::work(&mut station, member()?, delivery, &task)?,
        Role::Grow(task) => grow::work(&mut station, &task)?,
        Role::HostNuma(task) => host_numa::work(&mut station, member()?, delivery, &task)?,
        Role::Stripe(task) => stripe::work(&mut station, member()?, delivery, &task)?,
        Role::Alias(task) => alias::work(&mut station, &task)?,
        // The parent makes nothing that takes time, and what is shared comes by the transport.
        Role::Fabric(task) => {
            let mut transport = delivery.receive()?.transport(member()?, start.workers)?;
            fabric::work(&mut station, &mut *transport, &task)?
        }
        Role::Probe(probe) => probe::work(&mut station, probe)?,
    };
    if start.record_calls {
        post.calls(&recorder.bytes())?;
    }
    post.done(done)?;
    Ok(())
}

/// What a role needs: its driver, its device, who it is, who hears of it, its time.
pub(crate) struct Station<'a> {
    pub(crate) driver: &'a dyn Driver,
    pub(crate) device: Device,
    pub(crate) worker: u32,
    pub(crate) workers: u32,
    pub(crate) deadline: Deadline,
    pub(crate) phases: Phases,
    listener: &'a mut dyn Listener,
}

impl<'a> Station<'a> {
    /// The station of one of so many workers.
    pub(crate) fn new(
        driver: &'a dyn Driver,
        device: Device,
        listener: &'a mut dyn Listener,
        (worker, workers): (u32, u32),
        deadline: Deadline,
        init_ms: f64,
    ) -> Self {
        let mut phases = Phases::default();
        phases.add("init", init_ms);
        Self { driver, device, worker, workers, deadline, phases, listener }
    }

    /// Tells which step begins.
    pub(crate) fn begin(&mut self, step: Step) -> Result<(), WorkerError> {
        Ok(self.listener.step(step)?)
    }

    /// Tells something for who wants to know more.
    pub(crate) fn note(&mut self, text: String) -> Result<(), WorkerError> {
        Ok(self.listener.note(text)?)
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
    pub(crate) fn meet(&mut self, all: &mut dyn Meet, step: Step) -> Result<(), WorkerError> {
        self.begin(step)?;
        Ok(all.meet(self.deadline)?)
    }
}
