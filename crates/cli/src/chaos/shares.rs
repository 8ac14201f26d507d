//! Runs in one process, as many at a time as there are cores: of those in one OS process one runs at a time, so each core has a process.

use std::process::ExitCode as ProcessExitCode;
use std::time::Duration;
use std::{env, thread};

use anyhow::{Context, anyhow};
use peermap_chaos::Plan;
use peermap_ipc::{Channel, Deadline, IpcError, Output, Spawn, TypedChannel};
use peermap_report::ExitCode;
use serde::{Deserialize, Serialize};

use super::args::Share;
use super::in_one::{self, Played};
use super::present::{Board, End, Failed};
use super::{ALL, Chaos, Turns, end_of_player, together};
use crate::hidden::{CHANNEL, executable};
use crate::refusal::Refusal;

/// The hidden subcommand that plays a share.
const PLAYER: &str = "__chaos";

/// For fewer seeds than these for each core the start of a process does not pay.
const WORTH_A_PROCESS: u64 = 20;

/// How long a player may take to end once it has closed its channel.
const END_TIME: Duration = Duration::from_secs(10);

/// What a player tells of a seed.
#[derive(Serialize, Deserialize)]
struct Told {
    end: End,
    failed: Option<Wrong>,
}

/// A plan with which something is wrong, and what.
#[derive(Serialize, Deserialize)]
struct Wrong {
    seed: u64,
    devices: u32,
    per_device: u32,
    faults: Vec<String>,
    wrong: Vec<String>,
}

/// Plays seeds until they or the time are over.
pub(super) fn play(arguments: &Chaos, most_devices: u32) -> Result<Board, Refusal> {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let players = cores.min(arguments.seeds / WORTH_A_PROCESS);
    if players < 2 || arguments.log {
        return play_here(arguments, most_devices);
    }
    let mut whole = together(players, |first| hear(Turns { first, every: players }, most_devices))?;
    whole.failed.sort_by_key(|failed| failed.plan.seed);
    Ok(whole)
}

fn play_here(arguments: &Chaos, most_devices: u32) -> Result<Board, Refusal> {
    let mut board = Board::default();
    in_one::play(arguments, ALL, most_devices, &mut |Played { plan, end, log, failed }| {
        board.count(end);
        if arguments.log {
            board.logs.push((plan, log));
        }
        board.failed.extend(failed);
        Ok(())
    })?;
    Ok(board)
}

/// Has a process play its share, and hears what becomes of it. The process ends with this one.
fn hear(Turns { first, every }: Turns, most_devices: u32) -> Result<Board, Refusal> {
    let exe = executable().map_err(Refusal::unexpected)?;
    // The program and its subcommand are others.
    let asked = env::args_os().skip(2);
    let share = ["--share".to_owned(), first.to_string(), every.to_string(), most_devices.to_string()];
    let spawn = Spawn::new(exe).arg0("peermap").args([PLAYER]).args(asked).args(share);
    let (spawn, channel) =
        spawn.stdout(Output::Inherit).stderr(Output::Inherit).connect(CHANNEL).map_err(Refusal::unexpected)?;
    let mut player = spawn.spawn().context("a player cannot be started").map_err(Refusal::unexpected)?;
    let mut channel: TypedChannel<(), Told> = TypedChannel::new(channel);
    let mut board = Board::default();
    loop {
        match channel.recv(0, Deadline::NEVER) {
            Ok((told, _)) => {
                board.count(told.end);
                board.failed.extend(told.failed.map(Wrong::of_plan).transpose()?);
            }
            Err(IpcError::PeerClosed) => break,
            Err(error) => return Err(Refusal::unexpected(error)),
        }
    }
    match player.wait(Deadline::after(END_TIME)) {
        Ok(end) if end.is_success() => Ok(board),
        Ok(end) => Err(Refusal::unexpected(anyhow!("a player (pid {}) ended: {end}", player.pid()))),
        Err(error) => Err(Refusal::unexpected(error)),
    }
}

impl Wrong {
    fn of_plan(self) -> Result<Failed, Refusal> {
        let faults = self.faults.iter().map(|fault| fault.parse()).collect::<Result<Vec<_>, _>>();
        let faults = faults.map_err(|error| Refusal::unexpected(anyhow!("{error}")))?;
        let Self { seed, devices, per_device, wrong, .. } = self;
        Ok(Failed { plan: Plan { seed, devices, per_device, faults }, wrong })
    }
}

/// The process that plays a share.
pub(crate) fn play_share(share: &Share, channel: Channel) -> ProcessExitCode {
    let &[first, every, most] = &*share.share else { return ProcessExitCode::from(ExitCode::Usage.code()) };
    let mut channel: TypedChannel<Told, ()> = TypedChannel::new(channel);
    let mut tell = |Played { end, failed, .. }: Played| {
        let failed = failed.map(|Failed { plan, wrong }| Wrong {
            seed: plan.seed,
            devices: plan.devices,
            per_device: plan.per_device,
            faults: plan.faults.iter().map(ToString::to_string).collect(),
            wrong,
        });
        channel.send(&Told { end, failed }, &[], Deadline::NEVER).map_err(Refusal::unexpected)
    };
    let most_devices = u32::try_from(most).unwrap_or(u32::MAX);
    end_of_player(in_one::play(&share.whole, Turns { first, every }, most_devices, &mut tell))
}
