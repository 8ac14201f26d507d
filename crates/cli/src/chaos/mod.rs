//! `peermap chaos`.

mod args;
mod in_one;
mod present;
mod separate;

use std::time::{Duration, Instant};

use peermap_chaos::{Plan, shrink};
use peermap_report::ExitCode;

pub(crate) use args::Chaos;

use crate::refusal::Refusal;
use present::Failed;

/// Plays and prints.
pub(crate) fn run(arguments: &Chaos) -> ExitCode {
    chaos(arguments).unwrap_or_else(|refusal| refusal.end(arguments.json))
}

fn chaos(arguments: &Chaos) -> Result<ExitCode, Refusal> {
    let begun = Instant::now();
    let board = match arguments.processes {
        args::Where::InOne => in_one::play(arguments),
        args::Where::Separate => separate::play(arguments),
    }?;
    present::print(arguments, &board, begun.elapsed())
}

/// The plans that are asked for, until the time is over.
fn plans(arguments: &Chaos) -> impl Iterator<Item = Plan> + '_ {
    let begun = Instant::now();
    let seeds = arguments.seed..arguments.seed.saturating_add(arguments.seeds);
    seeds.take_while(move |_| begun.elapsed() < arguments.budget).map(|seed| {
        let plan = Plan::of_seed(seed, arguments.processes.into());
        if arguments.fault.is_empty() { plan } else { Plan { faults: arguments.fault.clone(), ..plan } }
    })
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
