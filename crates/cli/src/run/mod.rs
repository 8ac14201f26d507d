//! `peermap run`.

mod args;

use std::io::Write;
use std::time::Duration;

use peermap_report::{Event, ExitCode, RunReport, event_line};
use peermap_scenario::{Launcher, RunError, one_line, refused, run_recording_calls};
use peermap_sim::TEAM_TIME;

#[cfg(feature = "mpi")]
pub(crate) use args::Common;
use args::Scenario;
pub(crate) use args::{Fabric, Run};

use crate::backend::{self, Chosen};
use crate::call_file::CallFile;
use crate::hidden::executable;
#[cfg(feature = "mpi")]
use crate::ranks;
use crate::refusal::Refusal;
use crate::{provenance, show};

/// Runs a scenario.
pub(crate) fn run(arguments: &Run) -> ExitCode {
    let scenario = &arguments.scenario;
    if let Some(rank) = scenario.as_rank() {
        return run_rank(rank);
    }
    run_somewhere(scenario).unwrap_or_else(|refusal| refusal.end(scenario.common().json))
}

/// A rank of a job that something else started.
#[cfg(feature = "mpi")]
fn run_rank(arguments: &Fabric) -> ExitCode {
    ranks::run(arguments)
}

#[cfg(not(feature = "mpi"))]
fn run_rank(arguments: &Fabric) -> ExitCode {
    let without = |_| Refusal::usage("this peermap was built without MPI; build it with --features mpi");
    arguments.of_rank().map_or_else(|refusal| refusal, without).end(arguments.common().json)
}

fn run_somewhere(scenario: &Scenario) -> Result<ExitCode, Refusal> {
    let chosen = backend::choose(&scenario.common().place)?.able_to(scenario.common().check)?.tuned();
    // Before anything is started: what is wrong with the file can be said at once.
    let mut file = scenario.common().profile_calls.as_deref().map(CallFile::new).transpose()?;
    match run_on(&chosen, scenario, file.as_mut()) {
        Ok(code) => Ok(code),
        Err(Refused::NoDevice(error)) => {
            show::note(&format!("simulating: {}", one_line(&error)));
            fall_back(scenario, file.as_mut())
        }
        Err(Refused::With(refusal)) => Err(refusal),
    }
}

/// The simulator in place of a real driver that turned out to have no device.
fn fall_back(scenario: &Scenario, file: Option<&mut CallFile<'_>>) -> Result<ExitCode, Refusal> {
    let profile = backend::machine_profile(None).map_err(Refusal::unexpected)?;
    run_on(&Chosen::Sim(profile), scenario, file).map_err(|refused| match refused {
        Refused::NoDevice(error) => because(&error),
        Refused::With(refusal) => refusal,
    })
}

/// Why a backend gave no result.
enum Refused {
    /// It has no device, and another backend may take its place.
    NoDevice(RunError),
    /// No other would do better.
    With(Refusal),
}

fn because(error: &RunError) -> Refusal {
    Refusal::new(error.exit_code(), anyhow::Error::msg(one_line(error)))
}

fn run_on(chosen: &Chosen, scenario: &Scenario, mut file: Option<&mut CallFile<'_>>) -> Result<ExitCode, Refused> {
    let checks = scenario.checks(chosen);
    let backend = chosen.start_checking(checks).map_err(Refused::With)?;
    let exe = executable();
    let exe = exe.map_err(|error| Refused::With(Refusal::unexpected(error)))?;
    let team_ms = team_time(scenario.common().timeout()).as_millis().to_string();
    let launcher = Launcher { exe, args: ["__worker", "--team-ms", &team_ms].map(str::to_owned).to_vec() };
    let (wanted, verbose, json) = (scenario.wanted(checks), scenario.common().verbose, scenario.common().json);
    let mut sink = |event: &Event| {
        if verbose || !event.is_detail() {
            show::note(&event_line(event));
        }
    };
    let result = match &mut file {
        Some(file) => run_recording_calls(&wanted, &*backend, &launcher, &mut sink, file.calls_of_another_attempt()),
        None => peermap_scenario::run(&wanted, &*backend, &launcher, &mut sink),
    };
    let with_calls = |report| match file {
        Some(file) => file.add_to(report),
        None => report,
    };
    match result {
        Ok(report) => {
            let report = RunReport { provenance: Some(provenance::find(backend.name())), ..report };
            Ok(present(&with_calls(report), json))
        }
        Err(error @ RunError::Backend(_)) if matches!(chosen, Chosen::Cuda { may_fall_back: true }) => {
            Err(Refused::NoDevice(error))
        }
        Err(error) => {
            let report = with_calls(refused(&wanted, &*backend, &error));
            if json { Ok(present(&report, true)) } else { Err(Refused::With(because(&error))) }
        }
    }
}

/// How long workers wait for a whole team: who is missing is to be told before the time of the run is over.
fn team_time(timeout: Duration) -> Duration {
    TEAM_TIME.min(timeout / 2)
}

/// Prints a report; gives the exit code that follows from it.
pub(crate) fn present(report: &RunReport, json: bool) -> ExitCode {
    let text = if json { report.to_json() } else { report.table() };
    if let Some(failure) = &report.failure {
        show::complaint(&failure.message);
    }
    match writeln!(std::io::stdout(), "{text}") {
        Ok(()) => report.exit_code(),
        Err(error) => {
            show::complaint(&format!("the result cannot be written: {error}"));
            ExitCode::Unexpected
        }
    }
}
