//! Runs whose parent may be killed: it is a process of its own, as its workers are, and so is somebody left to see what remains.

use std::process::ExitCode as ProcessExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{process, thread};

use anyhow::Context;
use peermap_chaos::Plan;
use peermap_ipc::whereabouts::started_with;
use peermap_ipc::{Channel, Deadline, Exit, Output, Spawn, TypedChannel};
use peermap_report::{ExitCode, FailureKind};
use serde::{Deserialize, Serialize};

use super::args::Alone;
use super::present::End;
use super::separate::{LEAST, LOOK_AGAIN, MOST, Player};
use super::{Chaos, arguments_of, end_of_player};
use crate::hidden::{CHANNEL, executable};
use crate::refusal::Refusal;

/// The hidden subcommand that is the parent.
const PARENT: &str = "__parent";

/// The variable of all processes of a run.
const MARK: &str = "PEERMAP_CHAOS_RUN";

/// How a killed parent ends.
const KILLED: Exit = Exit::Signal(9);

/// What a parent tells that was not killed.
#[derive(Serialize, Deserialize)]
struct Told {
    kind: Option<FailureKind>,
    wrong: Vec<String>,
}

/// Has a process play a plan as its parent. Gives how that ended, and what was wrong about it.
pub(super) fn play(arguments: &Chaos, plan: &Plan, patience: Duration) -> Result<(End, Vec<String>), Refusal> {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let mark = format!("{}-{}", process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
    let exe = executable().map_err(Refusal::unexpected)?;
    let alone = [plan.devices.to_string(), plan.per_device.to_string(), patience.as_millis().to_string()];
    let asked = arguments_of(arguments, plan).into_iter().chain(["--alone".to_owned()]).chain(alone);
    let spawn = Spawn::new(exe).arg0("peermap").args([PARENT]).args(asked);
    let (spawn, channel) = spawn.env(MARK, &mark).stdout(Output::Null).connect(CHANNEL).map_err(Refusal::unexpected)?;
    let mut parent = spawn.spawn().context("the parent of a run cannot be started").map_err(Refusal::unexpected)?;
    let mut channel: TypedChannel<(), Told> = TypedChannel::new(channel);

    // It has to start a machine, too, and to look at what is left there.
    let told = channel.recv(0, Deadline::after(patience + MOST)).ok().map(|(told, _)| told);
    let (end, mut wrong) = told.map_or((None, Vec::new()), |Told { kind, wrong }| (Some(kind), wrong));
    match parent.wait(Deadline::after(MOST)) {
        Ok(exit) if exit == if end.is_some() { Exit::Code(0) } else { KILLED } => {}
        Ok(exit) => wrong.push(format!("the parent ended: {exit}")),
        Err(error) => wrong.push(format!("the parent does not end: {error}")),
    }
    wrong.extend(left(&mark));
    Ok((end, wrong))
}

/// The processes of a run that have not ended with it.
fn left(mark: &str) -> Option<String> {
    let until = Instant::now() + LEAST;
    loop {
        let left = started_with(MARK, mark);
        if left.is_empty() {
            return None;
        }
        if Instant::now() > until {
            let pids: Vec<String> = left.iter().map(u32::to_string).collect();
            return Some(format!("processes are left: {}", pids.join(", ")));
        }
        thread::sleep(LOOK_AGAIN);
    }
}

/// The process that is the parent of one run.
pub(crate) fn play_alone(alone: &Alone, channel: Channel) -> ProcessExitCode {
    let &[devices, per_device, patience] = &*alone.alone else { return ProcessExitCode::from(ExitCode::Usage.code()) };
    let arguments = &alone.whole;
    let plan = Plan { seed: arguments.seed, devices, per_device, faults: arguments.fault.clone() };
    let played =
        Player::new(arguments, Duration::from_millis(patience.into())).and_then(|mut player| player.play(&plan));
    let mut channel: TypedChannel<Told, ()> = TypedChannel::new(channel);
    end_of_player(played.and_then(|(outcome, wrong)| {
        let told = Told { kind: outcome.kind, wrong };
        channel.send(&told, &[], Deadline::NEVER).map_err(Refusal::unexpected)
    }))
}
