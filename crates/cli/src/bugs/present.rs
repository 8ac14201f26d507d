//! The scoreboard as text and as JSON.

use std::io::Write;

use anyhow::Context;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use peermap_bugs::Verdict;
use peermap_report::ExitCode;
use serde::Serialize;

use super::Line;
use crate::refusal::Refusal;
use crate::show;

/// The version of the JSON.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Scoreboard<'l> {
    schema: u32,
    backend: &'static str,
    seed: u64,
    ok: bool,
    passed: usize,
    failed: usize,
    skipped: usize,
    entries: Vec<Row<'l>>,
}

#[derive(Serialize)]
struct Row<'l> {
    id: &'static str,
    title: &'static str,
    source: &'static str,
    caught_by: String,
    verdict: &'static str,
    /// Why it failed or was skipped.
    why: Option<&'l str>,
    ms: f64,
}

impl<'l> From<&'l Line> for Row<'l> {
    fn from(Line { entry, played }: &'l Line) -> Self {
        let (verdict, why) = match &played.verdict {
            Verdict::Passed => ("passed", None),
            Verdict::Failed(why) => ("failed", Some(why.as_str())),
            Verdict::Skipped(why) => ("skipped", Some(why.as_str())),
        };
        let ms = (played.took.as_secs_f64() * 1e4).round() / 10.0;
        Self { id: entry.id, title: entry.title, source: entry.source, caught_by: entry.caught_by(), verdict, why, ms }
    }
}

/// Prints the scoreboard; gives the exit code that follows from it.
pub(super) fn print(backend: &'static str, seed: u64, lines: &[Line], json: bool) -> Result<ExitCode, Refusal> {
    let board = Scoreboard::new(backend, seed, lines.iter().map(Row::from).collect());
    for row in board.entries.iter().filter(|row| row.verdict == "failed") {
        let why = row.why.unwrap_or_default();
        show::complaint(&format!(
            "{}: {why}; peermap bugs --backend {backend} --seed {seed} {} plays it again",
            row.id, row.id
        ));
    }
    let text =
        if json { serde_json::to_string(&board).expect("a scoreboard has text keys only") } else { text(&board) };
    let written = writeln!(std::io::stdout(), "{text}").context("the scoreboard cannot be written");
    written.map_err(Refusal::unexpected)?;
    Ok(if board.ok { ExitCode::Ok } else { ExitCode::Mismatch })
}

impl<'l> Scoreboard<'l> {
    fn new(backend: &'static str, seed: u64, entries: Vec<Row<'l>>) -> Self {
        let count = |verdict: &str| entries.iter().filter(|row| row.verdict == verdict).count();
        let (passed, failed, skipped) = (count("passed"), count("failed"), count("skipped"));
        Self { schema: SCHEMA, backend, seed, ok: failed == 0, passed, failed, skipped, entries }
    }
}

/// A table of the entries, and below it the reasons of those that were skipped.
fn text(board: &Scoreboard<'_>) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["entry", "what it is", "caught by", "ms", "verdict"]);
    for row in &board.entries {
        let ms = format!("{:.0}", row.ms);
        table.add_row([row.id, row.title, &row.caught_by, &ms, row.verdict]);
    }
    if let Some(column) = table.column_mut(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = table.trim_fmt();
    let reasons = board.entries.iter().filter(|row| row.verdict == "skipped");
    for (id, why) in reasons.filter_map(|row| Some((row.id, row.why?))) {
        text.push_str(&format!("\n{id} was skipped: {why}"));
    }
    let Scoreboard { passed, failed, skipped, .. } = board;
    text.push_str(&format!("\n{passed} passed, {failed} failed, {skipped} skipped"));
    text
}
