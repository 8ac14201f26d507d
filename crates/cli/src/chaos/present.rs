//! What came of many seeds, as text and as JSON.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use peermap_chaos::Plan;
use peermap_report::{ExitCode, FailureKind};
use serde::Serialize;

use super::{Chaos, arguments_of};
use crate::refusal::Refusal;
use crate::show;

/// The version of the JSON.
const SCHEMA: u32 = 1;

/// How a run ended. The outer `None` is one whose parent was killed, the inner one that was verified.
pub(super) type End = Option<Option<FailureKind>>;

/// A plan with which something is wrong, and what.
pub(super) struct Failed {
    pub(super) plan: Plan,
    pub(super) wrong: Vec<String>,
}

/// What came of many seeds.
#[derive(Default)]
pub(super) struct Board {
    /// How many runs there were of each end.
    ends: BTreeMap<String, u64>,
    pub(super) failed: Vec<Failed>,
    pub(super) logs: Vec<(Plan, Vec<String>)>,
}

#[derive(Serialize)]
struct Printed<'b> {
    schema: u32,
    ok: bool,
    scenario: String,
    processes: &'static str,
    profile: &'b str,
    first_seed: u64,
    /// How many seeds were played.
    played: u64,
    seconds: f64,
    seeds_per_minute: f64,
    /// How many runs ended how.
    ends: &'b BTreeMap<String, u64>,
    failed: Vec<Wrong<'b>>,
}

#[derive(Serialize)]
struct Wrong<'b> {
    seed: u64,
    faults: Vec<String>,
    wrong: &'b [String],
    again: String,
}

impl Board {
    /// Counts a run by its end.
    pub(super) fn count(&mut self, end: End) {
        let name = match end {
            None => "parent killed".to_owned(),
            Some(None) => "verified".to_owned(),
            Some(Some(kind)) => format!("{kind:?}"),
        };
        *self.ends.entry(name).or_default() += 1;
    }

    /// Adds what came of others.
    pub(super) fn add(&mut self, other: Self) {
        other.ends.into_iter().for_each(|(end, count)| *self.ends.entry(end).or_default() += count);
        self.failed.extend(other.failed);
        self.logs.extend(other.logs);
    }

    fn played(&self) -> u64 {
        self.ends.values().sum()
    }
}

/// The command that plays a plan again.
fn again(arguments: &Chaos, plan: &Plan) -> String {
    format!("peermap chaos {}", arguments_of(arguments, plan).join(" "))
}

/// Prints; gives the exit code that follows.
pub(super) fn print(arguments: &Chaos, board: &Board, took: Duration) -> Result<ExitCode, Refusal> {
    let processes = arguments.processes.name();
    let played = board.played();
    if played == 0 {
        return Err(Refusal::usage("no seed was played: --budget is too short"));
    }
    let failed = board
        .failed
        .iter()
        .map(|Failed { plan, wrong }| Wrong {
            seed: plan.seed,
            faults: plan.faults.iter().map(ToString::to_string).collect(),
            wrong,
            again: again(arguments, plan),
        })
        .collect();
    let seconds = took.as_secs_f64();
    let printed = Printed {
        schema: SCHEMA,
        ok: board.failed.is_empty(),
        scenario: arguments.scenario.name(),
        processes,
        profile: &arguments.profile,
        first_seed: arguments.seed,
        played,
        seconds: (seconds * 10.0).round() / 10.0,
        seeds_per_minute: (played as f64 * 60.0 / seconds).round(),
        ends: &board.ends,
        failed,
    };
    for Wrong { seed, wrong, again, .. } in &printed.failed {
        show::complaint(&format!("seed {seed}: {}; {again} plays it again", wrong.join("; ")));
    }
    let text = if arguments.json {
        serde_json::to_string(&printed).context("the result is no JSON")
    } else {
        Ok(text(&printed, board))
    };
    let text = text.map_err(Refusal::unexpected)?;
    writeln!(std::io::stdout(), "{text}").context("the result cannot be written").map_err(Refusal::unexpected)?;
    Ok(if printed.ok { ExitCode::Ok } else { ExitCode::Mismatch })
}

fn text(printed: &Printed<'_>, board: &Board) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (plan, log) in &board.logs {
        let faults: Vec<String> = plan.faults.iter().map(ToString::to_string).collect();
        lines.push(format!("seed {}: {} workers, {}", plan.seed, plan.workers(), faults.join(" ")));
        lines.extend(log.iter().cloned());
    }
    let ends: Vec<String> = printed.ends.iter().map(|(end, count)| format!("{count} {end}")).collect();
    let Printed { played, seconds, seeds_per_minute, scenario, processes, .. } = printed;
    lines
        .push(format!("{scenario}, processes {processes}: {played} seeds in {seconds} s, {seeds_per_minute} a minute"));
    lines.push(format!("ends: {}", ends.join(", ")));
    lines.push(match printed.failed.len() {
        0 => "nothing was wrong".to_owned(),
        count => format!("{count} were wrong"),
    });
    lines.join("\n")
}
