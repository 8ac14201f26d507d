//! The subcommands that the command runs itself in: workers, processes of traces and simulated machines.

use std::env;
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::process::ExitCode as ProcessExitCode;
use std::time::Duration;

use anyhow::Context;
use peermap_cuda::CudaDriver;
use peermap_driver::{Driver, with_causes};
use peermap_ipc::{Channel, Deadline, take_inherited};
use peermap_model::Profile;
use peermap_report::ExitCode;
use peermap_sim::{MachineOptions, SimProcess, serve};

use crate::args::{BackendChoice, Machine, Worker};
use crate::backend;
use crate::bugs;
use crate::chaos::{Alone, Share, play_alone, play_share};
use crate::show;

/// The descriptor of a worker's channel to its run, and of a machine's control channel.
pub(crate) const CHANNEL: RawFd = 3;

/// The descriptor of a worker's way to its simulated machine.
pub(crate) const TICKET: RawFd = 4;

/// How long the machine may take to take a worker in.
const JOIN_TIME: Duration = Duration::from_secs(10);

/// A worker of a run.
pub(crate) fn worker(arguments: &Worker) -> ProcessExitCode {
    let channel = match inherited_channel() {
        Ok(channel) => channel,
        Err(error) => return not_by_hand(&error),
    };
    let open = || open_to_work(arguments).map_err(|error| with_causes(&*error));
    let code = match &*arguments.fault {
        [] => peermap_scenario::worker_main(channel, open),
        faults => peermap_chaos::worker_with_faults(channel, faults.to_vec(), open),
    };
    ProcessExitCode::from(u8::try_from(code).unwrap_or(ExitCode::Unexpected.code()))
}

/// The other process of a benchmark.
pub(crate) fn partner(arguments: &Worker) -> ProcessExitCode {
    let channel = match inherited_channel() {
        Ok(channel) => channel,
        Err(error) => return not_by_hand(&error),
    };
    let code = peermap_bench::partner_main(channel, || open(arguments.backend).map_err(|error| with_causes(&*error)));
    ProcessExitCode::from(u8::try_from(code).unwrap_or(ExitCode::Unexpected.code()))
}

/// A process that plays some of the seeds of `chaos`.
pub(crate) fn share(arguments: &Share) -> ProcessExitCode {
    match inherited_channel() {
        Ok(channel) => play_share(arguments, channel),
        Err(error) => not_by_hand(&error),
    }
}

/// This executable, which is that of every process that it starts.
pub(crate) fn executable() -> anyhow::Result<PathBuf> {
    env::current_exe().context("this executable has no path")
}

/// A process that is the parent of one run of `chaos`.
pub(crate) fn alone(arguments: &Alone) -> ProcessExitCode {
    match inherited_channel() {
        Ok(channel) => play_alone(arguments, channel),
        Err(error) => not_by_hand(&error),
    }
}

/// A process that plays a known bug, or that such a process has started.
pub(crate) fn bug(arguments: &Worker) -> ProcessExitCode {
    let channel = match inherited_channel() {
        Ok(channel) => channel,
        Err(error) => return not_by_hand(&error),
    };
    let (backend, open): (_, Option<peermap_bugs::Open>) = match arguments.backend {
        BackendChoice::Sim | BackendChoice::Auto => ("sim", None),
        BackendChoice::Cuda => ("cuda", Some(|| open(BackendChoice::Cuda).map_err(|error| with_causes(&*error)))),
    };
    let played = bugs::launch(backend).and_then(|launch| Ok(peermap_bugs::player_main(channel, open, launch)?));
    match played {
        Ok(()) => ProcessExitCode::from(ExitCode::Ok.code()),
        Err(error) => {
            show::complaint(&with_causes(&*error));
            ProcessExitCode::from(ExitCode::Unexpected.code())
        }
    }
}

/// A process of a trace.
pub(crate) fn player(arguments: &Worker) -> ProcessExitCode {
    let channel = match inherited_channel() {
        Ok(channel) => channel,
        Err(error) => return not_by_hand(&error),
    };
    let open = || open(arguments.backend).map_err(|error| with_causes(&*error));
    match peermap_trace::player_main(channel, open) {
        Ok(()) => ProcessExitCode::from(ExitCode::Ok.code()),
        Err(error) => {
            show::complaint(&error.to_string());
            ProcessExitCode::from(ExitCode::Unexpected.code())
        }
    }
}

/// The driver of a worker.
fn open_to_work(arguments: &Worker) -> anyhow::Result<Box<dyn Driver>> {
    match (arguments.backend, arguments.team_ms) {
        (BackendChoice::Sim, Some(most)) => {
            let process = join(backend::visibility().as_deref())?;
            process.wait_for_teams(Duration::from_millis(most));
            Ok(Box::new(process))
        }
        (backend, _) => open(backend),
    }
}

fn join(visible: Option<&str>) -> anyhow::Result<SimProcess> {
    let ticket = take_inherited(TICKET).context("no way to a simulated machine")?;
    Ok(SimProcess::join(ticket, visible, Deadline::after(JOIN_TIME))?)
}

fn open(backend: BackendChoice) -> anyhow::Result<Box<dyn Driver>> {
    match backend {
        BackendChoice::Cuda => Ok(Box::new(CudaDriver::open()?)),
        BackendChoice::Sim => Ok(Box::new(join(backend::visibility().as_deref())?)),
        BackendChoice::Auto => anyhow::bail!("a worker is told its backend"),
    }
}

/// The process of a simulated machine.
pub(crate) fn machine(arguments: &Machine) -> ProcessExitCode {
    let channel = match inherited_channel() {
        Ok(channel) => channel,
        Err(error) => return not_by_hand(&error),
    };
    let options = MachineOptions { checks: arguments.check, ..MachineOptions::default() };
    let served = Profile::named(&arguments.profile)
        .map_err(anyhow::Error::from)
        .and_then(|profile| serve(channel, profile, options).map_err(anyhow::Error::from));
    match served {
        Ok(()) => ProcessExitCode::from(ExitCode::Ok.code()),
        Err(error) => {
            show::complaint(&with_causes(&*error));
            ProcessExitCode::from(ExitCode::Unexpected.code())
        }
    }
}

fn inherited_channel() -> anyhow::Result<Channel> {
    Ok(Channel::to_parent(CHANNEL)?)
}

fn not_by_hand(error: &anyhow::Error) -> ProcessExitCode {
    show::complaint(&format!("this subcommand is started by peermap itself, not by hand: {}", with_causes(&**error)));
    ProcessExitCode::from(ExitCode::Usage.code())
}
