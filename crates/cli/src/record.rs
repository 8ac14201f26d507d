//! `peermap record`.

use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use peermap_report::ExitCode;
use peermap_trace::{Got, Header, Machine, Step, Writer};

use crate::args::{ProcessMode, Record};
use crate::output::{Output, unwritten};
use crate::play::{Place, Steps, each_trace};
use crate::refusal::Refusal;
use crate::show;

/// Plays the traces one after the other, so that none disturbs another, and writes what the driver answers.
pub(crate) fn run(arguments: &Record) -> ExitCode {
    record(arguments).unwrap_or_else(|refusal| refusal.end(false))
}

fn record(arguments: &Record) -> Result<ExitCode, Refusal> {
    let Record { out, files, backend, profile, timeout } = arguments;
    let limit = Duration::from_secs(*timeout);
    let place = Place::choose(*backend, profile.as_deref(), Some(ProcessMode::Separate), limit)?;
    let machine = place.machine()?;
    let mut output = Output::create(out)?;
    let mut recording = Recording { place, machine, writer: Writer::new(&mut output), counts: Counts::default() };
    for file in files {
        let recorded = each_trace(file, |header, steps| recording.trace(header, steps));
        recorded.map_err(|refusal| Refusal {
            error: refusal.error.context(format!("{} is not written", out.display())),
            ..refusal
        })?;
    }
    recording.flush()?;
    let counts = recording.counts;
    output.finish()?;
    counts.print()?;
    Ok(counts.exit_code())
}

#[derive(Default)]
struct Counts {
    traces: u64,
    steps: u64,
    written: u64,
    left_out: u64,
}

impl Counts {
    /// A recording that lacks steps plays differently from what was asked for.
    const fn exit_code(&self) -> ExitCode {
        if self.written < self.steps { ExitCode::Unexpected } else { ExitCode::Ok }
    }

    fn print(&self) -> Result<(), Refusal> {
        let Self { traces, steps, written, left_out } = self;
        let mut text = format!("{traces} traces, {steps} steps, {written} recorded");
        if *left_out > 0 {
            text.push_str(&format!(", {left_out} traces left out"));
        }
        let printed = writeln!(std::io::stdout(), "{text}").context("the result cannot be written");
        printed.map_err(Refusal::unexpected)
    }
}

struct Recording<'o> {
    place: Place,
    machine: Machine,
    writer: Writer<&'o mut Output>,
    counts: Counts,
}

impl Recording<'_> {
    fn trace(&mut self, header: Header, steps: &mut Steps<'_>) -> Result<(), Refusal> {
        let (needs, devices) = (header.needs.devices, self.machine.gpus);
        if needs > devices {
            self.counts.left_out += 1;
            show::note(&format!("trace {}: left out, it needs {needs} devices and there are {devices}", header.name));
            return Ok(());
        }
        let header = Header { machine: self.machine.clone(), ..header };
        let Self { place, writer, counts, .. } = self;
        writer.header(&header).map_err(unwritten)?;
        counts.traces += 1;
        place.play(None, steps, |index, step, got| {
            counts.steps += 1;
            match answered(step, &got) {
                Some(step) => {
                    counts.written += 1;
                    writer.step(&step).map_err(unwritten)
                }
                None => {
                    show::note(&format!("trace {}, step {index}: not recorded, {got}", header.name));
                    Ok(())
                }
            }
        })?;
        // What was recorded is in the unfinished file even if a later trace takes this command down.
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Refusal> {
        self.writer.flush().map_err(unwritten)
    }
}

/// The step with the answer that it got. `None`: it got none that the format has a word for.
fn answered(step: &Step, got: &Got) -> Option<Step> {
    let result = got.result()?;
    Some(Step { result, out: got.out().cloned(), ..step.clone() })
}
