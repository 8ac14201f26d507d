//! A backend whose machine and workers are this executable.

use std::cell::RefCell;
use std::process::ExitCode;
use std::time::Duration;

use peermap_driver::{ByteSize, Driver, Intercepted};
use peermap_ipc::{Channel, Child, Deadline, Spawn, take_inherited};
use peermap_model::{HolderList, Profile};
use peermap_report::{Event, RunReport};
use peermap_scenario::memmap_ipc::{self, Options};
use peermap_scenario::{Backend, BackendError, Launcher, RunError, WorkerEndpoint, worker_main};
use peermap_sim::{MachineClient, MachineOptions, SimProcess, serve};

use crate::fault::{Fault, Saboteur};

pub const MACHINE: &str = "play-machine";
pub const WORKER: &str = "play-worker";

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
    _machine: Child,
}

impl SimBackend {
    pub fn new(profile: &str) -> Self {
        let (ours, theirs) = Channel::pair().unwrap();
        let spawn = Spawn::new(exe()).args([MACHINE, profile]).inherit(theirs.into_fd(), 3);
        let machine = spawn.spawn().unwrap();
        let client = RefCell::new(MachineClient::new(ours, patience()).unwrap());
        let expected = Profile::named(profile).unwrap().devices.len();
        let (fault, memory_limit) = (Fault::None, None);
        Self { profile: profile.to_owned(), client, fault, expected, memory_limit, _machine: machine }
    }

    /// Sabotages worker 1.
    pub fn with_fault(self, fault: Fault) -> Self {
        Self { fault, ..self }
    }

    /// Says another number of devices beforehand.
    pub fn expecting(self, expected: usize) -> Self {
        Self { expected, ..self }
    }

    /// Who holds what memory of the machine.
    pub fn holders(&self) -> HolderList {
        self.client.borrow_mut().holders(patience()).unwrap()
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

    fn worker(&self, worker: u32) -> Result<WorkerEndpoint, BackendError> {
        let ticket = self.client.borrow_mut().ticket(patience()).map_err(|error| BackendError::new("sim", error))?;
        let fault = if worker == 1 { self.fault } else { Fault::None };
        Ok(WorkerEndpoint {
            args: vec![fault.to_string()],
            descriptors: vec![(ticket, 4)],
            ..WorkerEndpoint::default()
        })
    }

    fn expected_devices(&self) -> usize {
        self.expected
    }

    fn memory_limit(&self) -> Option<ByteSize> {
        self.memory_limit
    }
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

/// Runs the scenario; gives the result and what happened.
pub fn run(options: &Options, backend: &SimBackend) -> (Result<RunReport, RunError>, Vec<Event>) {
    let mut events = Vec::new();
    let result = memmap_ipc::run(options, backend, &launcher(), &mut |event: &Event| events.push(event.clone()));
    (result, events)
}

pub fn play_machine(profile: &str) -> ExitCode {
    let control = Channel::from_fd(take_inherited(3).unwrap()).unwrap();
    serve(control, Profile::named(profile).unwrap(), MachineOptions::default()).unwrap();
    ExitCode::SUCCESS
}

pub fn play_worker(fault: &str) -> ExitCode {
    let channel = Channel::from_fd(take_inherited(3).unwrap()).unwrap();
    let ticket = take_inherited(4).unwrap();
    let fault: Fault = fault.parse().unwrap();
    let code = worker_main(channel, move || {
        if fault == Fault::NoDriver {
            return Err("it was taken away".to_owned());
        }
        let process = SimProcess::join(ticket, None, patience()).map_err(|error| error.to_string())?;
        let saboteur = Saboteur::new(fault, process.clone());
        Ok(Box::new(Intercepted::new(process, saboteur)))
    });
    ExitCode::from(u8::try_from(code).unwrap())
}
