//! A backend whose machine and workers are this executable.

use std::cell::{Cell, RefCell};
use std::io::{self, PipeReader, PipeWriter};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::wait::{WaitPidFlag, waitpid};
use peermap_driver::{ByteSize, Driver, Intercepted};
use peermap_ipc::{Channel, Child, Deadline, Spawn, take_inherited};
use peermap_model::Profile;
use peermap_report::{Account, Event, RunReport};
use peermap_scenario::memmap_ipc::MemmapIpc;
use peermap_scenario::pool_ipc::PoolIpc;
use peermap_scenario::simple_ipc::SimpleIpc;
use peermap_scenario::{
    Backend, BackendError, Launcher, Options, Relay, RunError, Scenario, WorkerEndpoint, worker_main,
};
use peermap_sim::{MachineClient, MachineOptions, SimProcess, serve};

use crate::fault::{Fault, Saboteur};
use crate::journal::{Entry, Inbox, Journal};

pub const MACHINE: &str = "play-machine";
pub const WORKER: &str = "play-worker";

/// The numbers of the descriptors of a worker.
const TICKET: i32 = 4;
const JOURNAL: i32 = 5;

/// Long enough for every wait that shall succeed, however busy the host is.
pub fn patience() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

/// A simulated machine, one of whose workers may be sabotaged.
pub struct SimBackend {
    profile: String,
    client: RefCell<MachineClient>,
    fault: Fault,
    expected: usize,
    pub memory_limit: Option<ByteSize>,
    /// How many workers were started.
    pub started: Cell<u32>,
    /// Where the worker of number 1 that was started last notes its calls.
    pub inbox: Inbox,
    _machine: Child,
}

impl SimBackend {
    pub fn new(profile: &str) -> Self {
        Self::watching(profile, "none")
    }

    /// A machine that watches kernels for these mistakes.
    pub fn watching(profile: &str, checks: &str) -> Self {
        let (spawn, ours) = Spawn::new(exe()).args([MACHINE, profile, checks]).connect(3).unwrap();
        let machine = spawn.spawn().unwrap();
        let client = RefCell::new(MachineClient::new(ours, patience()).unwrap());
        let expected = Profile::named(profile).unwrap().devices.len();
        let (fault, memory_limit, started) = (Fault::None, None, Cell::new(0));
        let (profile, inbox) = (profile.to_owned(), Inbox::default());
        Self { profile, client, fault, expected, memory_limit, started, inbox, _machine: machine }
    }

    /// Sabotages worker 1.
    pub fn with_fault(self, fault: Fault) -> Self {
        Self { fault, ..self }
    }

    /// Says another number of devices beforehand.
    pub fn expecting(self, expected: usize) -> Self {
        Self { expected, ..self }
    }

    /// What worker 1 noted. It has ended; to be asked once.
    pub fn journal(&self) -> Vec<Entry> {
        self.inbox.all()
    }

    /// Ends the machine after a run. No memory of it may be held by then, and afterwards this thread has no child left.
    pub fn assert_nothing_is_left(self) {
        // Children that other tests fork right now have copies of the sockets of this process until they execute.
        let begun = Instant::now();
        while let held = self.client.borrow_mut().account(patience()).unwrap().held
            && !held.is_empty()
        {
            assert!(begun.elapsed() < Duration::from_secs(30), "{held:?}");
            std::thread::yield_now();
        }
        drop(self);
        let any_child_of_this_thread = WaitPidFlag::WNOHANG | WaitPidFlag::__WNOTHREAD;
        assert_eq!(waitpid(None, Some(any_child_of_this_thread)), Err(Errno::ECHILD));
    }
}

impl Backend for SimBackend {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn profile(&self) -> Option<&str> {
        Some(&self.profile)
    }

    fn driver(&self) -> Result<Box<dyn Driver>, BackendError> {
        let ticket = self.client.borrow_mut().ticket(patience()).map_err(|error| BackendError::new("sim", error))?;
        let process = SimProcess::join(ticket, None, patience()).map_err(|error| BackendError::new("sim", error))?;
        Ok(Box::new(process))
    }

    fn account(&self, deadline: Deadline) -> Option<Account> {
        self.client.borrow_mut().account(deadline).ok()
    }

    fn worker(&self, worker: u32) -> Result<WorkerEndpoint, BackendError> {
        self.started.update(|started| started + 1);
        let ticket = self.client.borrow_mut().ticket(patience()).map_err(|error| BackendError::new("sim", error))?;
        let mut endpoint = WorkerEndpoint { descriptors: vec![(ticket, TICKET)], ..WorkerEndpoint::default() };
        let mut fault = Fault::None;
        if worker == 1 {
            fault = self.fault;
            let (reader, writer) = journal_pipe().map_err(|error| BackendError::new("sim", error))?;
            self.inbox.put(reader);
            endpoint.descriptors.push((writer.into(), JOURNAL));
        }
        endpoint.args.push(fault.to_string());
        Ok(endpoint)
    }

    fn expected_devices(&self) -> usize {
        self.expected
    }

    fn memory_limit(&self) -> Option<ByteSize> {
        self.memory_limit
    }
}

/// A pipe for a journal, which is read when its worker has ended: it must hold all of it.
fn journal_pipe() -> io::Result<(PipeReader, PipeWriter)> {
    const ROOM: i32 = 1 << 20;
    let (reader, writer) = io::pipe()?;
    fcntl(&writer, FcntlArg::F_SETPIPE_SZ(ROOM))?;
    Ok((reader, writer))
}

fn exe() -> std::path::PathBuf {
    std::env::current_exe().expect("a process knows its executable")
}

/// Starts workers of this executable.
pub fn launcher() -> Launcher {
    Launcher { exe: exe(), args: vec![WORKER.to_owned()] }
}

/// Small buffers, a generous timeout.
pub fn options() -> Options {
    Options { size: ByteSize::mib(2), ..Options::default() }
}

/// The main job with these options.
pub fn memmap_ipc(options: &Options) -> Scenario {
    MemmapIpc { options: options.clone(), ..MemmapIpc::default() }.into()
}

/// The same work in simple-ipc.
pub fn simple_ipc(options: &Options) -> Scenario {
    SimpleIpc(Relay { options: options.clone(), ..Relay::default() }).into()
}

/// The same work in pool-ipc.
pub fn pool_ipc(options: &Options) -> Scenario {
    let relay = Relay { options: options.clone(), ..Relay::default() };
    PoolIpc { relay, ..PoolIpc::default() }.into()
}

/// Runs the main job; gives the result and what happened.
pub fn run(options: &Options, backend: &dyn Backend) -> (Result<RunReport, RunError>, Vec<Event>) {
    play(&memmap_ipc(options), backend)
}

/// Runs a scenario; gives the result and what happened.
pub fn play(scenario: &Scenario, backend: &dyn Backend) -> (Result<RunReport, RunError>, Vec<Event>) {
    let mut events = Vec::new();
    let mut note = |event: &Event| events.push(event.clone());
    let result = peermap_scenario::run(scenario, backend, &launcher(), &mut note);
    (result, events)
}

pub fn play_machine(profile: &str, checks: &str) -> ExitCode {
    let control = Channel::to_parent(3).unwrap();
    let options = MachineOptions { checks: checks.parse().unwrap(), ..MachineOptions::default() };
    serve(control, Profile::named(profile).unwrap(), options).unwrap();
    ExitCode::SUCCESS
}

pub fn play_worker(fault: &str) -> ExitCode {
    let channel = Channel::to_parent(3).unwrap();
    let ticket = take_inherited(TICKET).unwrap();
    // Only worker 1 has one.
    let journal = take_inherited(JOURNAL).ok().map(Journal::new);
    let fault: Fault = fault.parse().unwrap();
    let code = worker_main(channel, move || {
        if fault == Fault::NoDriver {
            return Err("it was taken away".to_owned());
        }
        let process = SimProcess::join(ticket, None, patience()).map_err(|error| error.to_string())?;
        let saboteur = Saboteur::new(fault, process.clone(), journal);
        Ok(Box::new(Intercepted::new(process, saboteur)))
    });
    ExitCode::from(u8::try_from(code).unwrap())
}
