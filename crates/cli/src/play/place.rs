//! Where traces are played.

use std::fs;
use std::time::Duration;

use peermap_model::Profile;
use peermap_report::ExitCode;
use peermap_trace::{Description, Got, InOne, Launch, Machine, Separate, Session, Stage, Step, describe};

use super::files::Steps;
use super::launch::{CudaLaunch, InOneProcesses, SimLaunch};
use crate::args::{PlayBackend, ProcessMode};
use crate::backend::{allow_descriptors, visibility};
use crate::refusal::Refusal;

/// The machine that the recordings were made on.
const DEFAULT_PROFILE: &str = "h200-x2";

/// The simulated machine of a name, or the one that the recordings were made on.
pub(crate) fn simulated(name: Option<&str>) -> Result<Profile, Refusal> {
    Profile::named(name.unwrap_or(DEFAULT_PROFILE)).map_err(|error| Refusal::new(ExitCode::Usage, error))
}

enum Kind {
    /// A fresh simulated machine for each trace.
    Sim(Box<Profile>),
    /// The driver of this host.
    Cuda,
}

/// Where traces are played.
pub(crate) struct Place {
    kind: Kind,
    mode: ProcessMode,
    limit: Duration,
}

impl Place {
    /// Decides. Nothing is started.
    pub(crate) fn choose(
        backend: PlayBackend,
        profile: Option<&str>,
        mode: Option<ProcessMode>,
        limit: Duration,
    ) -> Result<Self, Refusal> {
        let (kind, default) = match backend {
            PlayBackend::Cuda if profile.is_some() => {
                return Err(Refusal::usage("--profile names a simulated machine; it goes with --backend sim"));
            }
            PlayBackend::Cuda if mode == Some(ProcessMode::InOne) => {
                return Err(Refusal::usage(
                    "--processes in-one goes with --backend sim; a real driver has one process for each OS process",
                ));
            }
            PlayBackend::Cuda => (Kind::Cuda, ProcessMode::Separate),
            PlayBackend::Sim => {
                let profile = simulated(profile)?;
                allow_descriptors(&profile.name).map_err(Refusal::unexpected)?;
                (Kind::Sim(Box::new(profile)), ProcessMode::InOne)
            }
        };
        Ok(Self { kind, mode: mode.unwrap_or(default), limit })
    }

    /// How many devices there are.
    pub(crate) fn devices(&self) -> Result<u32, Refusal> {
        match &self.kind {
            Kind::Sim(profile) => Ok(count(profile)),
            Kind::Cuda => self.ask(&CudaLaunch { visible: None }).map(|description| description.devices),
        }
    }

    /// The machine, for the header of a recording.
    pub(crate) fn machine(&self) -> Result<Machine, Refusal> {
        let (description, driver) = match &self.kind {
            Kind::Sim(profile) => {
                let launch = SimLaunch::start(profile, self.visible(None)).map_err(Refusal::unexpected)?;
                (self.ask(&launch)?, format!("simulated, profile {}", profile.name))
            }
            Kind::Cuda => (self.ask(&CudaLaunch { visible: None })?, driver_version()),
        };
        let Description { devices, model, cuda, are_peers } = description;
        let link = (devices > 1).then(|| if are_peers { "peer access" } else { "no peer access" }.to_owned());
        Ok(Machine { gpus: devices, model, driver, cuda, link })
    }

    fn ask(&self, launch: &dyn Launch) -> Result<Description, Refusal> {
        describe(launch, self.limit)
            .map_err(|error| Refusal::new(ExitCode::BackendUnavailable, anyhow::anyhow!("{error}")))
    }

    /// `CUDA_VISIBLE_DEVICES` of processes that see no more than the first `devices` devices; `None`: that of this process.
    ///
    /// A trace counts the devices of its simulated machine, whatever this command may see of a real one.
    fn visible(&self, devices: Option<u32>) -> Option<String> {
        match &self.kind {
            Kind::Sim(profile) => Some(first(devices.unwrap_or(u32::MAX).min(count(profile)), None)),
            Kind::Cuda => devices.map(|devices| first(devices, visibility().as_deref())),
        }
    }

    /// Plays the steps of a trace in processes of their own, which see all devices or no more than the first `devices`, and
    /// shows what comes of each.
    pub(crate) fn play(
        &self,
        devices: Option<u32>,
        steps: &mut Steps<'_>,
        watch: impl FnMut(usize, &Step, Got) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let visible = self.visible(devices);
        match (&self.kind, self.mode) {
            (Kind::Sim(profile), ProcessMode::InOne) => {
                let mut processes = InOneProcesses::start(profile, visible).map_err(Refusal::unexpected)?;
                play(Session::new(InOne::new(&mut processes)), steps, watch)
            }
            (Kind::Sim(profile), ProcessMode::Separate) => {
                let launch = SimLaunch::start(profile, visible).map_err(Refusal::unexpected)?;
                play(Session::new(Separate::new(&launch, self.limit)), steps, watch)
            }
            (Kind::Cuda, _) => play(Session::new(Separate::new(&CudaLaunch { visible }, self.limit)), steps, watch),
        }
    }
}

fn play<S: Stage>(
    mut session: Session<S>,
    steps: &mut Steps<'_>,
    mut watch: impl FnMut(usize, &Step, Got) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    for (index, step) in steps.enumerate() {
        let step = step?;
        let got = session.step(&step);
        watch(index, &step, got)?;
    }
    Ok(())
}

fn count(profile: &Profile) -> u32 {
    u32::try_from(profile.devices.len()).unwrap_or(u32::MAX)
}

/// The `CUDA_VISIBLE_DEVICES` of a process that sees no more than the first `devices` of what `setting` lets it see.
fn first(devices: u32, setting: Option<&str>) -> String {
    let devices = usize::try_from(devices).unwrap_or(usize::MAX);
    match setting {
        Some(setting) => setting.split(',').take(devices).collect::<Vec<_>>().join(","),
        None => (0..devices).map(|index| index.to_string()).collect::<Vec<_>>().join(","),
    }
}

/// The version of the kernel driver, which the CUDA library does not tell.
fn driver_version() -> String {
    let version = fs::read_to_string("/sys/module/nvidia/version").map(|text| text.trim().to_owned());
    version.unwrap_or_else(|_| version_in_proc().unwrap_or_else(|| "unknown".to_owned()))
}

/// `NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  …`: the first word that is a dotted number.
fn version_in_proc() -> Option<String> {
    let text = fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let is_version = |word: &&str| word.contains('.') && word.split('.').all(|part| part.parse::<u32>().is_ok());
    text.split_whitespace().find(is_version).map(str::to_owned)
}
