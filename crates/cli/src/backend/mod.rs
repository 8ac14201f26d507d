//! The backends, as the command brings them to the scenarios.

mod cuda;
mod sim;

use peermap_cuda::CudaDriver;
use peermap_driver::Driver;
use peermap_ipc::limits;
use peermap_model::Profile;
use peermap_report::ExitCode;
use peermap_scenario::Backend;
use peermap_sim::descriptors_needed;

pub(crate) use cuda::{CudaBackend, device_files};
pub(crate) use sim::{SimBackend, machine_profile, visibility};

use crate::args::{BackendChoice, Where};
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
pub(crate) fn choose(place: &Where) -> Result<Chosen, ExitCode> {
    let profile = machine_profile(place.profile.as_deref()).map_err(|error| {
        show::complaint(&error.to_string());
        ExitCode::Usage
    })?;
    match place.backend {
        BackendChoice::Sim => Ok(Chosen::Sim(profile)),
        BackendChoice::Cuda if place.profile.is_some() => {
            show::complaint("--profile names a simulated machine; it goes with --backend sim");
            Err(ExitCode::Usage)
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
    /// The backend, started if it has to be.
    pub(crate) fn start(&self) -> Result<Box<dyn Backend>, ExitCode> {
        match self {
            Self::Cuda { .. } => Ok(Box::new(CudaBackend)),
            Self::Sim(profile) => match allow_descriptors(profile).and_then(|()| SimBackend::start(profile)) {
                Ok(backend) => Ok(Box::new(backend)),
                Err(error) => {
                    show::complaint(&format!("{error:#}"));
                    Err(ExitCode::Unexpected)
                }
            },
        }
    }

    /// A driver of this process, for commands that need no others.
    pub(crate) fn driver(&self) -> Result<Box<dyn Driver>, ExitCode> {
        if let Self::Sim(profile) = self
            && let Err(error) = allow_descriptors(profile)
        {
            show::complaint(&format!("{error:#}"));
            return Err(ExitCode::Unexpected);
        }
        let driver: anyhow::Result<Box<dyn Driver>> = match self {
            Self::Cuda { .. } => cuda::open_checked(),
            Self::Sim(profile) => sim::in_this_process(profile),
        };
        driver.map_err(|error| {
            show::complaint(&format!("{error:#}"));
            ExitCode::BackendUnavailable
        })
    }
}
