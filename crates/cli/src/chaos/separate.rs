//! Runs whose processes are processes of their own.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use peermap_chaos::{Outcome, Plan, separate};
use peermap_ipc::Deadline;
use peermap_scenario::{Backend, Launcher};
use peermap_sim::Checks;

use super::present::Board;
use super::{ALL, Chaos, alone, least, plans, together};
use crate::backend::{SimBackend, allow_descriptors};
use crate::hidden::executable;
use crate::refusal::Refusal;

/// How long a run may take at least and at most.
pub(super) const LEAST: Duration = Duration::from_secs(3);
pub(super) const MOST: Duration = Duration::from_secs(60);

/// How much slower a run may be than the first, beside others.
const SLOWER: u32 = 8;

/// How long until one looks again at what is left.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Plays seeds until they or the time are over, several at a time: most of each is waiting.
pub(super) fn play(arguments: &Chaos, most_devices: u32) -> Result<Board, Refusal> {
    if arguments.log {
        return Err(Refusal::usage("--log is for processes in one: those of their own say nothing"));
    }
    allow_descriptors(&arguments.profile).map_err(Refusal::unexpected)?;
    let players = 2 * thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let plans = Mutex::new(plans(arguments, ALL, most_devices));
    let next = || plans.lock().ok()?.next();
    let patience = patience(arguments, most_devices)?;
    together(players, |_| play_some(arguments, &next, patience))
}

fn machine(arguments: &Chaos) -> Result<SimBackend, Refusal> {
    SimBackend::start(&arguments.profile, Checks::NONE).map_err(Refusal::unexpected)
}

fn launcher() -> Result<Launcher, Refusal> {
    Ok(Launcher { exe: executable().map_err(Refusal::unexpected)?, args: vec!["__worker".to_owned()] })
}

/// How long a run may take: long enough for one in which nothing goes wrong, on a host that has other things to do.
fn patience(arguments: &Chaos, most_devices: u32) -> Result<Duration, Refusal> {
    let (backend, launcher, begun) = (machine(arguments)?, launcher()?, Instant::now());
    let scenario = |options| arguments.scenario.scenario(options);
    separate(&scenario, &backend, &launcher, &Plan::calm(most_devices), MOST);
    Ok((SLOWER * begun.elapsed()).clamp(LEAST, MOST))
}

/// What the machine still holds, once no child that another player starts can have copies of the descriptors of this run.
fn left(backend: &SimBackend) -> Option<String> {
    let until = Instant::now() + LEAST;
    loop {
        let Some(account) = backend.account(Deadline::after(MOST)) else {
            return Some("the machine does not say what is left".to_owned());
        };
        if account.held.is_empty() {
            return None;
        }
        if Instant::now() > until {
            let held: Vec<String> = account.held.iter().map(ToString::to_string).collect();
            return Some(format!("memory is left: {}", held.join("; ")));
        }
        thread::sleep(LOOK_AGAIN);
    }
}

/// Plays plans with this process as the parent, each on the same machine, which must be empty after each.
pub(super) struct Player<'a> {
    arguments: &'a Chaos,
    launcher: Launcher,
    machine: SimBackend,
    patience: Duration,
}

impl<'a> Player<'a> {
    pub(super) fn new(arguments: &'a Chaos, patience: Duration) -> Result<Self, Refusal> {
        Ok(Self { arguments, launcher: launcher()?, machine: machine(arguments)?, patience })
    }

    /// Plays one; gives how it ended, and what was wrong about that.
    pub(super) fn play(&mut self, plan: &Plan) -> Result<(Outcome, Vec<String>), Refusal> {
        let scenario = |options| self.arguments.scenario.scenario(options);
        let (outcome, wrong) = separate(&scenario, &self.machine, &self.launcher, plan, self.patience);
        let wrong: Vec<String> = wrong.into_iter().chain(left(&self.machine)).collect();
        // What one run left is not the next one's.
        if !wrong.is_empty() {
            self.machine = machine(self.arguments)?;
        }
        Ok((outcome, wrong))
    }
}

/// What one player plays.
fn play_some(
    arguments: &Chaos,
    next: &(dyn Fn() -> Option<Plan> + Sync),
    patience: Duration,
) -> Result<Board, Refusal> {
    let mut player = Player::new(arguments, patience)?;
    let mut play = |plan: &Plan| match plan.kills_parent() {
        true => alone::play(arguments, plan, patience),
        false => player.play(plan).map(|(outcome, wrong)| (Some(outcome.kind), wrong)),
    };
    let mut board = Board::default();
    while let Some(plan) = next() {
        let (end, wrong) = play(&plan)?;
        board.count(end);
        if !wrong.is_empty() {
            board.failed.push(least(&plan, wrong, |fewer| play(fewer).map(|(_, wrong)| wrong))?);
        }
    }
    Ok(board)
}
