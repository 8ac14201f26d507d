//! Runs whose processes are processes of their own.

use std::sync::Mutex;
use std::{env, thread};

use anyhow::{Context, anyhow};
use peermap_chaos::{Plan, separate};
use peermap_report::ExitCode;
use peermap_scenario::{Backend, Launcher};
use peermap_sim::Checks;

use super::present::Board;
use super::{Chaos, least, plans};
use crate::backend::{SimBackend, allow_descriptors};
use crate::refusal::Refusal;

/// Plays seeds until they or the time are over, several at a time: most of each is waiting.
pub(super) fn play(arguments: &Chaos) -> Result<Board, Refusal> {
    if arguments.log {
        return Err(Refusal::usage("--log is for processes in one: those of their own say nothing"));
    }
    peermap_model::Profile::named(&arguments.profile).map_err(|error| Refusal::new(ExitCode::Usage, error))?;
    allow_descriptors(&arguments.profile).map_err(Refusal::unexpected)?;
    let players = 2 * thread::available_parallelism().map_or(1, usize::from);
    let plans = Mutex::new(plans(arguments));
    let next = || plans.lock().ok()?.next();
    let boards: Vec<Result<Board, Refusal>> = thread::scope(|scope| {
        let players: Vec<_> = (0..players).map(|_| scope.spawn(|| play_some(arguments, &next))).collect();
        let joined = players.into_iter().map(|player| player.join());
        joined.map(|end| end.unwrap_or_else(|_| Err(Refusal::unexpected(anyhow!("a player panicked"))))).collect()
    });
    let mut whole = Board::default();
    for board in boards {
        whole.add(board?);
    }
    Ok(whole)
}

/// What one player plays, each on the same machine, which must be empty after each.
fn play_some(arguments: &Chaos, next: &(dyn Fn() -> Option<Plan> + Sync)) -> Result<Board, Refusal> {
    let machine = || SimBackend::start(&arguments.profile, Checks::NONE).map_err(Refusal::unexpected);
    let exe = env::current_exe().context("this executable has no path").map_err(Refusal::unexpected)?;
    let launcher = Launcher { exe, args: vec!["__worker".to_owned()] };
    let mut backend = machine()?;
    let scenario = |options| arguments.scenario.scenario(options);
    let mut play = |plan: &Plan| {
        let (outcome, wrong) = separate(&scenario, &backend, &launcher, plan);
        let mut wrong: Vec<String> = wrong.into_iter().collect();
        match backend.account() {
            Some(account) if account.held.is_empty() => {}
            Some(account) => wrong.push(format!("memory is left: {}", account.lines(true).join("; "))),
            None => wrong.push("the machine does not say what is left".to_owned()),
        }
        // What one run left is not the next one's.
        if !wrong.is_empty() {
            backend = machine()?;
        }
        Ok::<_, Refusal>((outcome, wrong))
    };
    let mut board = Board::default();
    while let Some(plan) = next() {
        let (outcome, wrong) = play(&plan)?;
        board.count(Some(outcome.kind));
        if !wrong.is_empty() {
            board.failed.push(least(&plan, wrong, |fewer| play(fewer).map(|(_, wrong)| wrong))?);
        }
    }
    Ok(board)
}
