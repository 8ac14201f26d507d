//! A difference as it is written and printed.

use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::Context;
use peermap_trace::{Trace, Writer};

use super::compare::{Difference, rule, unwritten};
use super::work::Work;
use crate::refusal::Refusal;

/// Writes the shrunk trace, with the answers of the driver, and prints its last step with both.
pub(super) fn report(
    work: &Work<'_>,
    whole: &Trace,
    difference: Difference,
    (tries, is_minimal): (usize, bool),
) -> Result<(), Refusal> {
    let name = whole.header.name.replacen("generated", "found", 1);
    let path = work.arguments.out.join(&name).with_extension("jsonl");
    let file = File::create(&path).map_err(|error| unwritten(error, &path))?;
    let mut writer = Writer::new(BufWriter::new(file));
    let recording = difference.recording(name, work.machine.clone());
    writer.trace(&recording).and_then(|()| writer.flush()).map_err(|error| unwritten(error, &path))?;

    let rule = rule(&work.simulated, &difference.trace)?.map_or_else(String::new, |rule| format!(" by {rule}"));
    let steps = difference.trace.steps.len();
    let shortest = if is_minimal { "" } else { ", perhaps not the fewest" };
    let simulated = &work.source.machine().driver;
    let shown = difference.show().map_or_else(String::new, |mismatch| mismatch.to_string());
    let text = format!(
        "{shown}; expected is what {simulated} answers{rule}; {}: {steps} steps after {tries} tries{shortest}",
        path.display()
    );
    writeln!(std::io::stdout(), "{text}").context("a difference cannot be written").map_err(Refusal::unexpected)
}
