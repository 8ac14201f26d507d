//! `peermap import`: what other tools measured, as a result of ours.

mod args;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use peermap_report::ExitCode;
use peermap_report::bench::{BenchReport, Nvbandwidth};

pub(crate) use args::Import;
use args::{Files, Into, Samples, Tool};

use crate::output::Output;
use crate::refusal::Refusal;
use crate::results::note_repeats;
use crate::{results, show};

/// Reads, converts and writes.
pub(crate) fn run(arguments: &Import) -> ExitCode {
    let (report, into) = match &arguments.tool {
        Tool::Nvbandwidth(Files { files, into }) => (nvbandwidth(files), into),
        Tool::Samples(Samples { file, like, into }) => {
            (results::read(like).and_then(|like| samples(file, &like)), into)
        }
    };
    let written = report.and_then(|report| write(&report, into));
    written.map_or_else(|refusal| refusal.end(false), |()| ExitCode::Ok)
}

fn write(report: &BenchReport, into: &Into) -> Result<(), Refusal> {
    let json = serde_json::to_string_pretty(report).expect("a result has text keys only");
    match &into.out {
        Some(path) => {
            Output::again(path, into.force)?.write_whole(&format!("{json}\n"))?;
        }
        None => {
            let written = writeln!(std::io::stdout(), "{json}").context("the result cannot be written");
            written.map_err(Refusal::unexpected)?;
        }
    }
    for skipped in &report.skipped {
        show::note(&format!("skipped: {}: {}", skipped.id, skipped.reason));
    }
    show::note(&format!("{} benchmarks, {} skipped", report.benchmarks.len(), report.skipped.len()));
    Ok(())
}

fn nvbandwidth(files: &[PathBuf]) -> Result<BenchReport, Refusal> {
    note_repeats(files);
    let usage = |error| Refusal::new(ExitCode::Usage, error);
    // The tool does not write when it ran; the age of its first file comes close.
    let started = files.first().map(|file| written_at(file)).transpose().map_err(usage)?;
    let mut runs = Nvbandwidth::new(&started.unwrap_or_default());
    for file in files {
        let warned = runs.add(&results::text(file)?).map_err(|error| results::named(file, error))?;
        if let Some(warning) = warned {
            show::note(&format!("{}: nvbandwidth warned: {warning}", file.display()));
        }
    }
    Ok(runs.finish())
}

fn samples(file: &Path, like: &BenchReport) -> Result<BenchReport, Refusal> {
    let started = written_at(file).map_err(|error| Refusal::new(ExitCode::Usage, error))?;
    BenchReport::of_samples(&results::text(file)?, like, &started).map_err(|error| results::named(file, error))
}

/// When a file was written, in UTC.
fn written_at(path: &Path) -> anyhow::Result<String> {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    let modified = modified.with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(humantime::format_rfc3339_seconds(modified).to_string())
}
