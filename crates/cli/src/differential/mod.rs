//! `peermap differential`: random traces on a driver and on the simulator.

mod args;
mod compare;
mod report;
mod work;

use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::Context;
use peermap_report::ExitCode;

pub(crate) use args::Differential;

use crate::args::{PlayBackend, ProcessMode};
use crate::generate::Source;
use crate::play::Place;
use crate::refusal::Refusal;
use work::{Counts, Work};

/// Generates, plays, compares, shrinks and prints.
pub(crate) fn run(arguments: &Differential) -> ExitCode {
    differ(arguments).and_then(|counts| print(&counts)).unwrap_or_else(|refusal| refusal.end(false))
}

fn differ(arguments: &Differential) -> Result<Counts, Refusal> {
    let limit = Duration::from_secs(arguments.timeout);
    refuse_multicast(arguments)?;
    let source = Source::new(&arguments.random, arguments.profile.as_deref())?;
    let profile = arguments.profile.as_deref();
    let simulated = Place::choose(PlayBackend::Sim, profile, Some(ProcessMode::InOne), limit)?;
    let other = match arguments.backend {
        PlayBackend::Cuda => arguments.against.as_deref(),
        PlayBackend::Sim => arguments.against.as_deref().or(profile),
    };
    let place = Place::choose(arguments.backend, other, Some(ProcessMode::Separate), limit)?;
    let machine = place.machine()?;
    if arguments.random.devices > machine.gpus {
        let (wanted, gpus) = (arguments.random.devices, machine.gpus);
        return Err(Refusal::new(ExitCode::Usage, anyhow::anyhow!("--devices {wanted}: there are {gpus}")));
    }
    fs::create_dir_all(&arguments.out).map_err(|error| compare::unwritten(error, &arguments.out))?;
    let until = arguments.within.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let work = Work { source, simulated, place, machine, arguments, until };
    work.all()
}

/// Multicast can put the GPUs of a host out of service: random calls are none of its owner's.
fn refuse_multicast(arguments: &Differential) -> Result<(), Refusal> {
    if arguments.backend == PlayBackend::Cuda && arguments.random.weights()?.multicast > 0 {
        let error = anyhow::anyhow!("--weight multicast: these calls are never made on hardware; use --backend sim");
        return Err(Refusal::new(ExitCode::Usage, error));
    }
    Ok(())
}

fn print(counts: &Counts) -> Result<ExitCode, Refusal> {
    let Counts { traces, steps, differ } = counts;
    let printed = writeln!(std::io::stdout(), "{traces} traces, {steps} steps, {differ} differ");
    printed.context("the result cannot be written").map_err(Refusal::unexpected)?;
    Ok(if *differ == 0 { ExitCode::Ok } else { ExitCode::Mismatch })
}
