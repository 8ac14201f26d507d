//! `peermap import`: what other tools measured, as a result of ours.

mod args;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;
use peermap_report::ExitCode;
use peermap_report::bench::{BenchReport, Nvbandwidth};

pub(crate) use args::Import;
use args::{Files, Tool};

use crate::output::Output;
use crate::refusal::Refusal;
use crate::results::note_repeats;
use crate::show;

/// Reads, converts and writes.
pub(crate) fn run(arguments: &Import) -> ExitCode {
    let Tool::Nvbandwidth(files) = &arguments.tool;
    import(files).map_or_else(|refusal| refusal.end(false), |()| ExitCode::Ok)
}

fn import(arguments: &Files) -> Result<(), Refusal> {
    note_repeats(&arguments.files);
    let report = nvbandwidth(&arguments.files).map_err(|error| Refusal::new(ExitCode::Usage, error))?;
    let json = serde_json::to_string_pretty(&report).expect("a result has text keys only");
    match &arguments.out {
        Some(path) => {
            Output::again(path, arguments.force)?.write_whole(&format!("{json}\n"))?;
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

fn nvbandwidth(files: &[PathBuf]) -> anyhow::Result<BenchReport> {
    // The tool does not write when it ran; the age of its first file comes close.
    let started = files.first().map(|file| written_at(file)).transpose()?.unwrap_or(SystemTime::UNIX_EPOCH);
    let mut runs = Nvbandwidth::new(&humantime::format_rfc3339_seconds(started).to_string());
    for file in files {
        let text = fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
        let warned = runs.add(&text).map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))?;
        if let Some(warning) = warned {
            show::note(&format!("{}: nvbandwidth warned: {warning}", file.display()));
        }
    }
    Ok(runs.finish())
}

fn written_at(path: &Path) -> anyhow::Result<SystemTime> {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified());
    modified.with_context(|| format!("{} cannot be read", path.display()))
}
