//! `peermap bench`.

mod against;
mod args;
mod crew;
mod machine;
mod peaks;
mod present;
mod tool;
mod watch;

use std::io::Write;
use std::time::SystemTime;

use anyhow::Context;
use peermap_bench::{BenchError, Effort, GroupError, MOST_DEVICES, Rig, SUITES, Suite, measure};
use peermap_driver::Driver;
use peermap_report::ExitCode;
use peermap_report::bench::{BenchReport, Skipped};

pub(crate) use args::Bench;

use crate::backend::{self, Chosen};
use crate::output::Output;
use crate::provenance;
use crate::refusal::Refusal;
use crew::OwnWorkers;

/// Measures, prints and writes.
pub(crate) fn run(arguments: &Bench) -> ExitCode {
    let outcome = match &arguments.against.other {
        Some(other) => against::run(other, arguments),
        None => bench(arguments),
    };
    outcome.unwrap_or_else(|refusal| refusal.end(arguments.json))
}

fn bench(arguments: &Bench) -> Result<ExitCode, Refusal> {
    let suites = chosen_suites(&arguments.suites)?;
    // Before anything is measured: a file that cannot be written would lose minutes of work.
    let out = arguments.out.as_deref().map(Output::create).transpose()?;
    let chosen = backend::choose(&arguments.place)?;
    let Measured { report, outcome } = measured(&chosen, &suites, arguments)?;
    let json = serde_json::to_string(&report).expect("a result has text keys only");
    if let Some(mut out) = out {
        writeln!(out, "{json}").map_err(crate::output::unwritten)?;
        out.finish()?;
    }
    let text = if arguments.json { json } else { present::table(&report) };
    let written = writeln!(std::io::stdout(), "{text}").context("the result cannot be written");
    written.map_err(Refusal::unexpected)?;
    // What was measured before and after it is shown and kept.
    if let Err(failure) = outcome {
        return Err(Refusal::new(exit_code(&failure.error), failure));
    }
    Ok(if present::missed(&report).next().is_some() { ExitCode::Regression } else { ExitCode::Ok })
}

/// The suites of these names, in the order of the registry.
fn chosen_suites(names: &[String]) -> Result<Vec<&'static dyn Suite>, Refusal> {
    let known = || SUITES.iter().map(|suite| suite.name()).collect::<Vec<_>>();
    if let Some(unknown) = names.iter().find(|name| !known().contains(&name.as_str())) {
        let error = anyhow::anyhow!("there is no suite {unknown:?}; the suites are {}", known().join(", "));
        return Err(Refusal::new(ExitCode::Usage, error));
    }
    let is_chosen = |suite: &&&dyn Suite| names.is_empty() || names.iter().any(|name| name == suite.name());
    Ok(SUITES.iter().filter(is_chosen).copied().collect())
}

/// What was measured, and whether a group failed.
struct Measured {
    report: BenchReport,
    outcome: Result<(), GroupError>,
}

fn measured(chosen: &Chosen, suites: &[&dyn Suite], arguments: &Bench) -> Result<Measured, Refusal> {
    let effort = if arguments.quick { Effort::QUICK } else { Effort::FULL };
    let effort = arguments.samples.map_or(effort, |samples| effort.with_exactly(samples as usize));
    let (source, profile) = match chosen {
        Chosen::Cuda { .. } => ("cuda", None),
        Chosen::Sim(profile) => ("sim", Some(profile.clone())),
    };
    let driver = chosen.driver()?;
    let crew = OwnWorkers::new(chosen);
    let mut rig = Rig::new(&*driver, &crew, effort, profile.is_some()).map_err(failed)?;
    rig.peaks = peaks::find(&rig);
    let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let mut report = BenchReport::new(source, &started);
    report.profile = profile;
    report.quick = arguments.quick;
    report.provenance = Some(provenance::find(source));
    report.machine = machine::find(&rig, source).map_err(failed)?;
    report.load = machine::load(source);
    report.skipped.extend(unmeasured(&*driver).map_err(|error| failed(error.into()))?);
    let before = machine::readings(source);
    let watch = watch::Watch::new();
    let outcome = measure(suites, &arguments.filter, &rig, &mut report, &mut |progress| watch.see(progress));
    watch.end();
    if report.benchmarks.is_empty() && report.skipped.is_empty() {
        let error = anyhow::anyhow!("no benchmark of these suites has {:?} in its id", arguments.filter);
        return Err(Refusal::new(ExitCode::Usage, error));
    }
    report.guards = machine::guards(before, machine::readings(source));
    Ok(Measured { report, outcome })
}

/// The devices that are too many.
fn unmeasured(driver: &dyn Driver) -> peermap_driver::Result<Option<Skipped>> {
    let count = driver.device_get_count()?;
    Ok((count > MOST_DEVICES).then(|| Skipped {
        id: format!("devices {MOST_DEVICES} to {}", count - 1),
        reason: format!("the first {MOST_DEVICES} devices are measured"),
    }))
}

fn failed(error: BenchError) -> Refusal {
    Refusal::new(exit_code(&error), error)
}

fn exit_code(error: &BenchError) -> ExitCode {
    match error {
        BenchError::NotHere(_) => ExitCode::BackendUnavailable,
        BenchError::Driver(_) => ExitCode::DriverError,
        BenchError::Died { .. } => ExitCode::WorkerLost,
        BenchError::Ipc(_) | BenchError::Run(_) => ExitCode::Unexpected,
    }
}
