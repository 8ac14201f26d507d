//! A plan, played in one OS process.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use peermap_ipc::limits;
use peermap_model::{Policy, Profile};
use peermap_report::{Event, RunReport};
use peermap_scenario::{Launcher, Options, RunError, Scenario, run};
use peermap_sim::{MachineOptions, SimError, SimMachine};

use crate::fault::Who;
use crate::judge::{Outcome, judge};
use crate::plan::Plan;
use crate::saboteur::Tally;
use crate::theatre::Theatre;
use crate::troupe::Company;
use crate::witness::Full;

/// What is played.
pub struct Staged<'a> {
    /// The scenario, of the options that a plan gives.
    pub scenario: Box<dyn Fn(Options) -> Scenario>,
    /// The machine.
    pub profile: &'a Profile,
}

/// What became of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// How the run ended; `None`: its parent was killed.
    pub outcome: Option<Outcome>,
    /// What happened, in its order. The same plan gives the same.
    pub log: Vec<String>,
    /// What each process did.
    pub tallies: Vec<(Who, Tally)>,
    /// What was wrong about it.
    pub wrong: Vec<String>,
}

/// Plays a plan with all processes in this one.
///
/// # Errors
/// If the host cannot back the machine.
pub fn in_one(staged: &Staged<'_>, plan: &Plan) -> Result<Trial, SimError> {
    // The open files of this process are counted, so only one run may open any.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let before = open_files();
    let policy = Policy::Hostile { seed: plan.seed };
    let machine = SimMachine::new(staged.profile.clone(), MachineOptions { policy, ..MachineOptions::default() })?;
    let seat = Theatre::open(plan.seed);
    let company = Company::new(machine.clone(), &staged.profile.name, seat.clone(), plan);
    let scenario = (staged.scenario)(plan.options());
    let launcher = Launcher { exe: PathBuf::new(), args: Vec::new() };
    let (result, performance) = seat.parent(|| run(&scenario, &company, &launcher, &mut |_: &Event| {}));
    let mut wrong = performance.faults;
    let outcome = result.map(outcome);
    let tallies = company.tallies();
    let happened: Vec<_> = tallies.iter().flat_map(|(_, tally)| tally.happened.clone()).collect();
    wrong.extend(outcome.as_ref().and_then(|outcome| judge(outcome, &happened)));
    let went_well = outcome.as_ref().is_some_and(|outcome| outcome.kind.is_none());
    if went_well && shares_full_buffers(&scenario) {
        wrong.extend(other_bytes(&company.seen()));
    }
    drop(company);
    match machine.account() {
        // Whoever is killed or fails gives nothing back. Whoever comes to its end does.
        Ok(account) if account.is_clean() || (account.held.is_empty() && !went_well) => {}
        Ok(account) => wrong.push(format!("memory is left, or was misused: {}", account.lines(true).join("; "))),
        Err(error) => wrong.push(format!("the machine cannot say what is left: {error}")),
    }
    let used = machine.host_memory_used();
    if !used.is_zero() {
        wrong.push(format!("{used} of host memory are left"));
    }
    drop(machine);
    let after = open_files();
    if after != before {
        wrong.push(format!("{before} files were open before and {after} are now"));
    }
    Ok(Trial { outcome, log: performance.log, tallies, wrong })
}

fn open_files() -> usize {
    limits::open_descriptors().unwrap_or_default()
}

/// How a run ended.
pub(crate) fn outcome(result: Result<RunReport, RunError>) -> Outcome {
    match result {
        Ok(report) => Outcome {
            kind: report.failure.as_ref().map(|failure| failure.kind),
            message: report.failure.map_or_else(String::new, |failure| failure.message),
        },
        Err(error) => Outcome { kind: Some(error.kind()), message: error.to_string() },
    }
}

/// Whether all workers have the same buffers mapped, and each holds one byte all over, when a run of a scenario says verified.
const fn shares_full_buffers(scenario: &Scenario) -> bool {
    // There each worker's devices leave marks in memory of its own.
    !matches!(scenario, Scenario::Access(_))
}

/// What is wrong with the bytes that the workers of a run saw that says it is verified.
fn other_bytes(seen: &[Vec<Full>]) -> Option<String> {
    let first = seen.first()?;
    let is_mixed = seen.iter().flatten().any(|full| *full == Full::Mixed);
    let differ = seen.iter().any(|other| other != first);
    (is_mixed || differ).then(|| format!("the run says verified, and its workers saw {seen:?}"))
}
