//! `peermap chaos`.

mod alone;
mod args;
mod in_one;
mod present;
mod separate;
mod shares;

use std::process::ExitCode as ProcessExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use peermap_chaos::{Fault, Outcome, Plan, Staged, What, Who, in_one, shrink};
use peermap_driver::with_causes;
use peermap_model::Profile;
use peermap_report::{ExitCode, FailureKind};

pub(crate) use alone::play_alone;
pub(crate) use args::{Alone, Chaos, Share};
pub(crate) use shares::play_share;

use crate::refusal::Refusal;
use crate::show;
use present::{Board, Failed};

/// Plays and prints.
pub(crate) fn run(arguments: &Chaos) -> ExitCode {
    chaos(arguments).unwrap_or_else(|refusal| refusal.end(arguments.json))
}

fn chaos(arguments: &Chaos) -> Result<ExitCode, Refusal> {
    let begun = Instant::now();
    let most_devices = most_devices(arguments)?;
    check_faults(arguments, most_devices)?;
    let board = match arguments.processes {
        args::Where::InOne => shares::play(arguments, most_devices),
        args::Where::Separate => separate::play(arguments, most_devices),
    }?;
    present::print(arguments, &board, begun.elapsed())
}

/// Refuses faults that can never happen.
fn check_faults(arguments: &Chaos, most_devices: u32) -> Result<(), Refusal> {
    let has_files = |fault: &Fault| matches!(fault.what, What::Files { .. });
    if matches!(arguments.processes, args::Where::InOne) && arguments.fault.iter().any(has_files) {
        return Err(Refusal::usage("how many files may be open is limited with --processes separate only"));
    }
    let named = arguments.fault.iter().filter_map(|fault| match fault.who {
        Who::Worker(worker) => Some(worker),
        Who::Parent => None,
    });
    let Some(worker) = named.max() else { return Ok(()) };
    let most = plans(arguments, ALL, most_devices).take(LOOKED_AT).map(|plan| plan.workers()).max().unwrap_or(0);
    if worker < most {
        return Ok(());
    }
    let text = anyhow!("there is no worker {worker}: with these seeds a run has at most {most}, counted from 0");
    Err(Refusal::new(ExitCode::Usage, text))
}

/// Has so many players play at once, each with its number, and adds up what came of it.
fn together(players: u64, play: impl Fn(u64) -> Result<Board, Refusal> + Sync) -> Result<Board, Refusal> {
    let play = &play;
    let boards: Vec<Result<Board, Refusal>> = thread::scope(|scope| {
        let players: Vec<_> = (0..players).map(|number| scope.spawn(move || play(number))).collect();
        let joined = players.into_iter().map(|player| player.join());
        joined.map(|end| end.unwrap_or_else(|_| Err(Refusal::unexpected(anyhow!("a player panicked"))))).collect()
    });
    let mut whole = Board::default();
    for board in boards {
        whole.add(board?);
    }
    Ok(whole)
}

/// With how many devices of the machine the scenario works if nothing goes wrong.
fn most_devices(arguments: &Chaos) -> Result<u32, Refusal> {
    let profile = Profile::named(&arguments.profile).map_err(|error| Refusal::new(ExitCode::Usage, error))?;
    let name = arguments.scenario;
    let staged = Staged { scenario: Box::new(move |options| name.scenario(options)), profile: &profile };
    let mut failed = None;
    for devices in (1..=Plan::MOST_DEVICES).rev() {
        match in_one(&staged, &Plan::calm(devices)).map_err(Refusal::unexpected)?.outcome {
            Some(Outcome { kind: None, .. }) => return Ok(devices),
            other => failed = other,
        }
    }
    let Outcome { kind, message } =
        failed.unwrap_or_else(|| Outcome { kind: None, message: "it has no end".to_owned() });
    let code = kind.map_or(ExitCode::Unexpected, FailureKind::exit_code);
    Err(Refusal::new(code, anyhow!("the scenario fails here although nothing goes wrong: {message}")))
}

/// How many seeds are looked at in order to know the most workers of a run.
const LOOKED_AT: usize = 1000;

/// Which seeds somebody plays: every so many-th from this one on.
#[derive(Clone, Copy)]
struct Turns {
    first: u64,
    every: u64,
}

/// All seeds.
const ALL: Turns = Turns { first: 0, every: 1 };

/// The plans that are asked for, until the time is over.
fn plans(arguments: &Chaos, Turns { first, every }: Turns, most_devices: u32) -> impl Iterator<Item = Plan> + '_ {
    let begun = Instant::now();
    let last = arguments.seed.saturating_add(arguments.seeds - 1);
    let step = usize::try_from(every).unwrap_or(usize::MAX).max(1);
    let seeds = arguments.seed.checked_add(first).into_iter().flat_map(move |first| (first..=last).step_by(step));
    seeds.take_while(move |_| begun.elapsed() < arguments.budget).map(move |seed| {
        let plan = Plan::of_seed(seed, arguments.processes.into(), most_devices);
        if arguments.fault.is_empty() { plan } else { Plan { faults: arguments.fault.clone(), ..plan } }
    })
}

/// The arguments that play a plan.
fn arguments_of(arguments: &Chaos, plan: &Plan) -> Vec<String> {
    let profile = Some(&arguments.profile).filter(|name| *name != "default");
    let profile = profile.into_iter().flat_map(|name| ["--profile".to_owned(), name.clone()]);
    let seed = ["--seed".to_owned(), plan.seed.to_string(), "--seeds".to_owned(), "1".to_owned()];
    let faults = plan.faults.iter().flat_map(|fault| ["--fault".to_owned(), fault.to_string()]);
    let run = [arguments.scenario.name(), "--processes".to_owned(), arguments.processes.name().to_owned()];
    run.into_iter().chain(profile).chain(seed).chain(faults).collect()
}

/// Ends a process that played for another one.
fn end_of_player(played: Result<(), Refusal>) -> ProcessExitCode {
    let code = match played {
        Ok(()) => ExitCode::Ok,
        Err(refusal) => {
            show::complaint(&with_causes(&*refusal.error));
            ExitCode::Unexpected
        }
    };
    ProcessExitCode::from(code.code())
}

/// How long the search for the fewest faults may take.
const SHRINK_TIME: Duration = Duration::from_secs(60);

/// The plan of the fewest faults with which something is wrong, and what that is.
fn least(
    plan: &Plan,
    wrong: Vec<String>,
    mut play: impl FnMut(&Plan) -> Result<Vec<String>, Refusal>,
) -> Result<Failed, Refusal> {
    let begun = Instant::now();
    let mut last = wrong;
    let least = shrink(plan, |fewer| {
        if begun.elapsed() > SHRINK_TIME {
            return Ok(false);
        }
        let wrong = play(fewer)?;
        let fails = !wrong.is_empty();
        if fails {
            last = wrong;
        }
        Ok::<_, Refusal>(fails)
    })?;
    Ok(Failed { plan: least, wrong: last })
}
