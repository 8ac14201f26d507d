//! How the processes of a trace are started.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use peermap_driver::Driver;
use peermap_ipc::{Channel, Deadline};
use peermap_model::{Grace, Profile};
use peermap_sim::{Checks, MachineClient, MachineOptions, SimMachine, serve};
use peermap_trace::{Launch, PlayerCommand, Processes, StartError};

use crate::backend::VISIBLE_DEVICES;
use crate::hidden::{CHANNEL, TICKET, executable};

/// How long the machine may take to answer.
const MACHINE_TIME: Duration = Duration::from_secs(10);

/// Work that nobody waits for never runs by itself: how long the steps of a trace take must change no answer.
pub(crate) const OPTIONS: MachineOptions = MachineOptions {
    policy: peermap_model::Policy::Measured,
    grace: Grace::Never,
    host_memory: None,
    checks: Checks::NONE,
};

fn command(exe: PathBuf, backend: &str, visible: Option<&String>) -> PlayerCommand {
    let args = ["__player", "--backend", backend].map(str::to_owned).to_vec();
    let env = visible.into_iter().map(|devices| (VISIBLE_DEVICES.to_owned(), devices.clone())).collect();
    PlayerCommand { exe, args, env, channel: CHANNEL, descriptors: Vec::new() }
}

/// Processes that each load the driver library of this host.
pub(super) struct CudaLaunch {
    /// `CUDA_VISIBLE_DEVICES`, if it is not that of this process.
    pub(super) visible: Option<String>,
}

impl Launch for CudaLaunch {
    fn command(&self) -> Result<PlayerCommand, StartError> {
        Ok(command(executable()?, "cuda", self.visible.as_ref()))
    }

    fn may_crash(&self) -> bool {
        true
    }
}

/// Processes that join a simulated machine. The machine is a thread of this OS process and serves them over sockets.
pub(super) struct SimLaunch {
    client: Option<Mutex<MachineClient>>,
    machine: Option<JoinHandle<()>>,
    visible: Option<String>,
}

impl SimLaunch {
    /// A machine whose processes have `visible` as `CUDA_VISIBLE_DEVICES`, if it is not that of this process.
    pub(super) fn start(profile: &Profile, visible: Option<String>) -> anyhow::Result<Self> {
        let (ours, theirs) = Channel::pair()?;
        let profile = profile.clone();
        let machine = thread::Builder::new().name("machine".to_owned()).spawn(move || {
            if let Err(error) = serve(theirs, profile, OPTIONS) {
                crate::show::complaint(&format!("the simulated machine ended: {error}"));
            }
        })?;
        let client = MachineClient::new(ours, Deadline::after(MACHINE_TIME))?;
        Ok(Self { client: Some(Mutex::new(client)), machine: Some(machine), visible })
    }
}

impl Launch for SimLaunch {
    fn command(&self) -> Result<PlayerCommand, StartError> {
        let mut command = command(executable()?, "sim", self.visible.as_ref());
        if let Some(client) = &self.client {
            let mut client = client.lock().unwrap_or_else(PoisonError::into_inner);
            command.descriptors.push((client.ticket(Deadline::after(MACHINE_TIME))?, TICKET));
        }
        Ok(command)
    }

    fn may_crash(&self) -> bool {
        false
    }
}

impl Drop for SimLaunch {
    fn drop(&mut self) {
        // The machine ends when its client hangs up.
        self.client = None;
        if let Some(Err(panic)) = self.machine.take().map(JoinHandle::join)
            && !thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

/// Processes of a simulated machine that all live in this OS process.
pub(crate) struct InOneProcesses {
    machine: SimMachine,
    visible: Option<String>,
}

impl InOneProcesses {
    /// A machine whose processes have `visible` as `CUDA_VISIBLE_DEVICES`.
    pub(crate) fn start(profile: &Profile, visible: Option<String>) -> anyhow::Result<Self> {
        Ok(Self { machine: SimMachine::new(profile.clone(), OPTIONS)?, visible })
    }
}

impl Processes for InOneProcesses {
    fn start(&mut self, _process: u32) -> Result<Box<dyn Driver>, StartError> {
        Ok(Box::new(self.machine.process_seeing(self.visible.as_deref())?))
    }
}
