//! The simulator: the machine is a process of its own, and each process of the run joins it.

use std::env;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use peermap_driver::{ByteSize, Driver, Uuid};
use peermap_ipc::{Child, Deadline, Output, Spawn};
use peermap_model::{Profile, ProfileError, visible_devices};
use peermap_report::Account;
use peermap_scenario::{Backend, BackendError, EndOfMachine, WorkerEndpoint};
use peermap_sim::{Checks, MachineClient, MachineOptions, SimMachine, SimProcess, default_host_memory};

use crate::hidden::{CHANNEL, TICKET, executable};

/// How long the machine may take to start or to answer.
const MACHINE_TIME: Duration = Duration::from_secs(10);

/// How long a machine may take to answer, or to end once it has closed its sockets, before it is believed to live.
const END_TIME: Duration = Duration::from_secs(1);

/// A running simulated machine.
pub(crate) struct SimBackend {
    profile: Profile,
    /// Before the process: the machine ends by itself when this hangs up, and is not killed in the middle of its work.
    client: Mutex<MachineClient>,
    process: Mutex<Child>,
}

/// The name of a profile that exists.
pub(crate) fn machine_profile(name: Option<&str>) -> Result<String, ProfileError> {
    Profile::named(name.unwrap_or(Profile::DEFAULT)).map(|profile| profile.name)
}

/// The variable that says which devices a process sees.
pub(crate) const VISIBLE_DEVICES: &str = "CUDA_VISIBLE_DEVICES";

/// Which devices this command may see.
pub(crate) fn visibility() -> Option<String> {
    env::var(VISIBLE_DEVICES).ok()
}

/// A process of a machine that lives in this OS process, how long its kernels may run, and what they are watched for.
pub(super) fn in_this_process(
    profile: &str,
    kernel_time: Option<Duration>,
    checks: Checks,
) -> anyhow::Result<Box<dyn Driver>> {
    let options = MachineOptions { checks, ..MachineOptions::default() };
    let process = SimMachine::new(Profile::named(profile)?, options)?.process_seeing(visibility().as_deref())?;
    kernel_time.inspect(|most| process.allow_kernels(*most));
    process.init(0).context("the simulated driver does not start; CUDA_VISIBLE_DEVICES may hide every device")?;
    Ok(Box::new(process))
}

impl SimBackend {
    pub(crate) fn start(profile: &str, checks: Checks) -> anyhow::Result<Self> {
        let (spawn, ours) = Spawn::new(executable()?)
            .arg0("peermap")
            .args(["__machine", "--profile", profile, "--check", &checks.to_string()])
            .stdout(Output::Inherit)
            .stderr(Output::Inherit)
            .connect(CHANNEL)?;
        let process = spawn.spawn().context("the simulated machine cannot be started")?;
        let client = MachineClient::new(ours, Deadline::after(MACHINE_TIME))?;
        Ok(Self { profile: Profile::named(profile)?, client: Mutex::new(client), process: Mutex::new(process) })
    }

    fn ticket(&self, node: Option<u16>) -> Result<OwnedFd, BackendError> {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        client.ticket_on(node, Deadline::after(MACHINE_TIME)).map_err(|error| BackendError::new("sim", error))
    }

    /// What a worker needs that is put on a node, or on none.
    fn endpoint(&self, node: Option<u16>) -> Result<WorkerEndpoint, BackendError> {
        Ok(WorkerEndpoint {
            args: vec!["--backend".to_owned(), "sim".to_owned()],
            descriptors: vec![(self.ticket(node)?, TICKET)],
            ..WorkerEndpoint::default()
        })
    }
}

impl Backend for SimBackend {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn profile(&self) -> Option<&str> {
        Some(&self.profile.name)
    }

    fn driver(&self) -> Result<Box<dyn Driver>, BackendError> {
        let process = SimProcess::join(self.ticket(None)?, visibility().as_deref(), Deadline::after(MACHINE_TIME));
        process.map(|process| Box::new(process) as Box<dyn Driver>).map_err(|error| BackendError::new("sim", error))
    }

    fn worker(&self, _worker: u32) -> Result<WorkerEndpoint, BackendError> {
        self.endpoint(None)
    }

    /// The only node of a machine needs no name.
    fn worker_beside(&self, _worker: u32, device: Uuid) -> Result<WorkerEndpoint, BackendError> {
        let there = self.profile.devices.iter().find(|there| there.uuid == device);
        self.endpoint(there.filter(|_| self.profile.nodes.len() > 1).map(|there| there.node))
    }

    fn expected_devices(&self) -> usize {
        let uuids: Vec<_> = self.profile.devices.iter().map(|device| device.uuid).collect();
        visible_devices(visibility().as_deref(), &uuids).len()
    }

    fn memory_limit(&self) -> Option<ByteSize> {
        default_host_memory().ok()
    }

    fn account(&self, deadline: Deadline) -> Option<Account> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner).account(deadline).ok()
    }

    fn lifeline(&self) -> Option<OwnedFd> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner).pidfd().try_clone_to_owned().ok()
    }

    fn end_of_machine(&self) -> Option<EndOfMachine> {
        // A machine that answers lives. One that is just ending closes its sockets first.
        if self.account(Deadline::after(END_TIME)).is_some() {
            return None;
        }
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = process.wait(Deadline::after(END_TIME));
        // Whatever is still to be given back would wait for one that neither answers nor ends.
        let was_silent = ended.is_err();
        let how = ended.or_else(|_| process.kill().and_then(|()| process.wait(Deadline::after(END_TIME)))).ok()?;
        Some(EndOfMachine { pid: process.pid(), how, was_silent })
    }
}
