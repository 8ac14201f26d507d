//! The results of a replay as text and as JSON.

use std::borrow::Cow;
use std::io::Write;

use anyhow::Context;
use peermap_report::ExitCode;
use peermap_trace::{Expected, Got, Mismatch};
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::tally::{Explained, Found, LeftOut, Played, Tally};
use crate::refusal::Refusal;

/// Prints what is to be said of one trace, if it is to be read by a person: why its steps fail, where it differs.
pub(super) fn progress(played: &Played, json: bool) -> Result<(), Refusal> {
    if json {
        return Ok(());
    }
    let mut text = String::new();
    for Explained { trace, step, line, process, call, result, why, .. } in &played.explanations {
        let why = why.as_deref().unwrap_or("the backend does not say why");
        text.push_str(&format!(
            "trace {trace}, step {step} (line {line}): process {process}: {call}: {result}\n    {why}\n"
        ));
    }
    for Found { file, mismatch } in &played.mismatches {
        text.push_str(&format!("{}: {mismatch}\n", file.display()));
    }
    if let Some(LeftOut { trace, needs, devices }) = &played.left_out {
        text.push_str(&format!("trace {trace}: left out, it needs {needs} devices and there are {devices}\n"));
    }
    write(&text)
}

/// Prints the sum; gives the exit code that follows from it.
pub(super) fn print(tally: &Tally, json: bool) -> Result<ExitCode, Refusal> {
    let Tally { traces, steps, matched, left_out, .. } = tally;
    if json {
        let text = serde_json::to_string(&Summary::from(tally)).map_err(Refusal::unexpected)?;
        write(&format!("{text}\n"))?;
    } else {
        if !left_out.is_empty() {
            write(&format!("{} traces left out\n", left_out.len()))?;
        }
        write(&format!("{traces} traces, {steps} steps, {matched} match\n"))?;
    }
    Ok(tally.exit_code())
}

fn write(text: &str) -> Result<(), Refusal> {
    let written = std::io::stdout().write_all(text.as_bytes()).context("the result cannot be written");
    written.map_err(Refusal::unexpected)
}

/// The sum as JSON.
#[derive(Serialize)]
struct Summary<'t> {
    traces: u64,
    steps: u64,
    matched: u64,
    mismatches: Vec<Different<'t>>,
    left_out: Vec<NotPlayed<'t>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    explanations: Vec<Reasoned<'t>>,
}

#[derive(Serialize)]
struct Different<'t> {
    file: Cow<'t, str>,
    trace: &'t str,
    step: usize,
    line: u64,
    process: u32,
    call: &'static str,
    #[serde(rename = "in")]
    arguments: &'t Map<String, Json>,
    expected: Answer<'t>,
    got: Answer<'t>,
}

#[derive(Serialize)]
struct Answer<'t> {
    /// Null where there was no answer.
    result: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<&'t Map<String, Json>>,
    /// Why, where the backend says so; or what kept it from answering.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Serialize)]
struct NotPlayed<'t> {
    trace: &'t str,
    needs: u32,
    devices: u32,
}

#[derive(Serialize)]
struct Reasoned<'t> {
    trace: &'t str,
    step: usize,
    process: u32,
    call: &'t str,
    result: &'t str,
    rule: Option<&'t str>,
    why: Option<&'t str>,
}

impl<'t> From<&'t Tally> for Summary<'t> {
    fn from(tally: &'t Tally) -> Self {
        Self {
            traces: tally.traces,
            steps: tally.steps,
            matched: tally.matched,
            mismatches: tally.mismatches.iter().map(Different::from).collect(),
            left_out: tally.left_out.iter().map(NotPlayed::from).collect(),
            explanations: tally.explanations.iter().map(Reasoned::from).collect(),
        }
    }
}

impl<'t> From<&'t Found> for Different<'t> {
    fn from(Found { file, mismatch }: &'t Found) -> Self {
        let Mismatch { trace, step, line, process, call, arguments, expected, got } = mismatch;
        Self {
            file: file.to_string_lossy(),
            trace,
            step: *step,
            line: *line,
            process: *process,
            call: call.name(),
            arguments,
            expected: expected.into(),
            got: got.into(),
        }
    }
}

impl<'t> From<&'t Expected> for Answer<'t> {
    fn from(expected: &'t Expected) -> Self {
        Self { result: Some(expected.result.to_string()), out: expected.out.as_ref(), why: None }
    }
}

impl<'t> From<&'t Got> for Answer<'t> {
    fn from(got: &'t Got) -> Self {
        let why = got.reason().map(ToString::to_string).or_else(|| got.complaint());
        Self { result: got.result().map(|result| result.to_string()), out: got.out(), why }
    }
}

impl<'t> From<&'t LeftOut> for NotPlayed<'t> {
    fn from(left_out: &'t LeftOut) -> Self {
        Self { trace: &left_out.trace, needs: left_out.needs, devices: left_out.devices }
    }
}

impl<'t> From<&'t Explained> for Reasoned<'t> {
    fn from(explained: &'t Explained) -> Self {
        let Explained { trace, step, process, call, result, rule, why, .. } = explained;
        let (rule, why) = (rule.as_deref(), why.as_deref());
        Self { trace, step: *step, process: *process, call, result, rule, why }
    }
}
