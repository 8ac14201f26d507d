//! `peermap compare`: whether benchmarks became slower.

mod args;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use peermap_report::ExitCode;
use peermap_report::bench::{BenchReport, Comparison, ComparisonOptions};

pub(crate) use args::Compare;

use crate::output::Output;
use crate::refusal::Refusal;
use crate::results::read;

/// Reads, compares and prints.
pub(crate) fn run(arguments: &Compare) -> ExitCode {
    compare(arguments).unwrap_or_else(|refusal| refusal.end(arguments.json))
}

fn compare(arguments: &Compare) -> Result<ExitCode, Refusal> {
    let junit = arguments.junit.as_deref().map(|path| Output::again(path, arguments.force)).transpose()?;
    let base = read_all(&arguments.base, &arguments.more_base)?;
    let new = read_all(&arguments.new, &arguments.more_new)?;
    let options = ComparisonOptions { threshold: arguments.threshold, across_machines: arguments.across_machines };
    let comparison = Comparison::of_runs(&base, &new, options).map_err(|incomparable| {
        let (base, new) = (arguments.base.display(), arguments.new.display());
        let error = anyhow::anyhow!("{base} and {new}: {incomparable}; --across-machines compares them even so");
        Refusal::new(ExitCode::Usage, error)
    })?;
    if let Some(junit) = junit {
        junit.write_whole(&comparison.junit())?;
    }
    let text = if arguments.json {
        comparison.to_json()
    } else if arguments.markdown {
        comparison.markdown()
    } else {
        comparison.table()
    };
    let printed = writeln!(std::io::stdout(), "{}", text.trim_end()).context("the comparison cannot be written");
    printed.map_err(Refusal::unexpected)?;
    Ok(comparison.exit_code())
}

fn read_all(first: &Path, more: &[PathBuf]) -> Result<Vec<BenchReport>, Refusal> {
    [first].into_iter().chain(more.iter().map(PathBuf::as_path)).map(read).collect()
}
