//! The backends, as the command brings them to the scenarios.

mod cuda;
mod sim;

use std::time::Duration;

use peermap_cuda::CudaDriver;
use peermap_driver::Driver;
use peermap_ipc::limits;
use peermap_model::Profile;
use peermap_report::ExitCode;
use peermap_scenario::Backend;
use peermap_sim::{Checks, descriptors_needed};

pub(crate) use cuda::{CudaBackend, device_files};
pub(crate) use sim::{SimBackend, VISIBLE_DEVICES, machine_profile, visibility};

use crate::args::{BackendChoice, Where};
use crate::refusal::Refusal;
use crate::show;

/// What was decided about the backend.
pub(crate) enum Chosen {
    /// The real driver.
    Cuda {
        /// Whether the simulator may take its place if no device answers.
        may_fall_back: bool,
    },
    /// The simulator, with the name of its profile.
    Sim(String),
}

/// Decides on a backend without initialising anything: workers are started before the parent initialises.
pub(crate) fn choose(place: &Where) -> Result<Chosen, Refusal> {
    let profile = machine_profile(place.profile.as_deref());
    let profile = profile.map_err(|error| Refusal::new(ExitCode::Usage, error))?;
    match place.backend {
        BackendChoice::Sim => Ok(Chosen::Sim(profile)),
        BackendChoice::Cuda if place.profile.is_some() => {
            Err(Refusal::usage("--profile names a simulated machine; it goes with --backend sim"))
        }
        BackendChoice::Cuda => Ok(Chosen::Cuda { may_fall_back: false }),
        BackendChoice::Auto if place.profile.is_some() => Ok(Chosen::Sim(profile)),
        BackendChoice::Auto => match CudaDriver::open() {
            Ok(_) if device_files() > 0 => Ok(Chosen::Cuda { may_fall_back: true }),
            Ok(_) => {
                show::note(&format!("simulating profile {profile}: no /dev/nvidia0 on this host"));
                Ok(Chosen::Sim(profile))
            }
            Err(error) => {
                show::note(&format!("simulating profile {profile}: {error}"));
                Ok(Chosen::Sim(profile))
            }
        },
    }
}

/// Makes sure that the processes of a simulated machine may have as many files open as they need: they inherit the limit.
pub(crate) fn allow_descriptors(profile: &str) -> anyhow::Result<()> {
    let profile = Profile::named(profile)?;
    let workers = DESCRIPTORS_PER_WORKER * profile.devices.len() as u64;
    let open = limits::open_descriptors()? as u64;
    limits::raise_open_files(open + descriptors_needed(&profile) + workers)?;
    Ok(())
}

/// What the parent of a run has open for each worker, with one worker for each device.
const DESCRIPTORS_PER_WORKER: u64 = 5;

impl Chosen {
    /// The same, unless it cannot make the checks that are asked for.
    pub(crate) fn able_to(self, checks: Checks) -> Result<Self, Refusal> {
        match self {
            Self::Cuda { .. } if !checks.is_empty() => {
                Err(Refusal::usage("a GPU cannot make the checks of --check; --backend sim can"))
            }
            able => Ok(able),
        }
    }

    /// The same, in a process that makes contexts as quickly as the workers that it will start.
    pub(crate) fn tuned(self) -> Self {
        if matches!(self, Self::Cuda { .. }) {
            cuda::tune_this_process();
        }
        self
    }

    /// The backend, started if it has to be.
    pub(crate) fn start(&self) -> Result<Box<dyn Backend>, Refusal> {
        self.start_checking(Checks::NONE)
    }

    /// The backend, which watches kernels for mistakes.
    pub(crate) fn start_checking(&self, checks: Checks) -> Result<Box<dyn Backend>, Refusal> {
        match self {
            Self::Cuda { .. } => Ok(Box::new(CudaBackend)),
            Self::Sim(profile) => {
                let started = allow_descriptors(profile).and_then(|()| SimBackend::start(profile, checks));
                Ok(Box::new(started.map_err(Refusal::unexpected)?))
            }
        }
    }

    /// A driver of this process, for commands that need no others.
    pub(crate) fn driver(&self) -> Result<Box<dyn Driver>, Refusal> {
        self.open(None, Checks::NONE)
    }

    /// The same, for kernels that may run for so long; the real driver does not stop one that takes longer.
    pub(crate) fn driver_for_kernels(&self, most: Duration, checks: Checks) -> Result<Box<dyn Driver>, Refusal> {
        self.open(Some(most), checks)
    }

    fn open(&self, kernel_time: Option<Duration>, checks: Checks) -> Result<Box<dyn Driver>, Refusal> {
        if let Self::Sim(profile) = self {
            allow_descriptors(profile).map_err(Refusal::unexpected)?;
        }
        let driver: anyhow::Result<Box<dyn Driver>> = match self {
            Self::Cuda { .. } => cuda::open_checked(),
            Self::Sim(profile) => sim::in_this_process(profile, kernel_time, checks),
        };
        driver.map_err(|error| Refusal::new(ExitCode::BackendUnavailable, error))
    }
}
