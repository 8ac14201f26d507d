//! `peermap compare`: whether benchmarks became slower.

mod args;

use std::io::Write;
use std::iter::once;
use std::path::Path;

use anyhow::Context;
use peermap_report::ExitCode;
use peermap_report::bench::{BenchReport, Comparison, ComparisonOptions};
use peermap_report::page::{self, Named};

pub(crate) use args::Compare;

use crate::output::Output;
use crate::refusal::Refusal;
use crate::results::read_named;

/// Reads, compares, writes and prints.
pub(crate) fn run(arguments: &Compare) -> ExitCode {
    compare(arguments).unwrap_or_else(|refusal| refusal.end(arguments.json))
}

fn compare(arguments: &Compare) -> Result<ExitCode, Refusal> {
    let Compare { html, junit, force, .. } = arguments;
    if html.is_some() && html == junit {
        return Err(Refusal::usage("--html and --junit name the same file"));
    }
    let begin = |path: &Path| Output::again(path, *force);
    let (html, junit) = (html.as_deref().map(begin).transpose()?, junit.as_deref().map(begin).transpose()?);
    let base = read_named(once(&arguments.base).chain(&arguments.more_base))?;
    let new = read_named(once(&arguments.new).chain(&arguments.more_new))?;
    let comparison = compared(arguments, &base, &new)?;
    if let Some(html) = html {
        html.write_whole(&page::comparison(&comparison, &base, &new))?;
    }
    if let Some(junit) = junit {
        junit.write_whole(&comparison.junit())?;
    }
    print(&comparison, arguments.json, arguments.markdown)
}

/// Prints a comparison as a table, or as what was asked for.
pub(crate) fn print(comparison: &Comparison, json: bool, markdown: bool) -> Result<ExitCode, Refusal> {
    let text = if json {
        comparison.to_json()
    } else if markdown {
        comparison.markdown()
    } else {
        comparison.table()
    };
    let printed = writeln!(std::io::stdout(), "{}", text.trim_end()).context("the comparison cannot be written");
    printed.map_err(Refusal::unexpected)?;
    Ok(comparison.exit_code())
}

fn compared(arguments: &Compare, base: &[Named], new: &[Named]) -> Result<Comparison, Refusal> {
    if arguments.paired && base.len() != new.len() {
        let error = anyhow::anyhow!("{} runs of the base and {} new ones are no pairs", base.len(), new.len());
        return Err(Refusal::new(ExitCode::Usage, error));
    }
    let options = ComparisonOptions { threshold: arguments.threshold, across_machines: arguments.across_machines };
    let reports = |side: &[Named]| side.iter().map(|result| result.report.clone()).collect::<Vec<BenchReport>>();
    let compare = if arguments.paired { Comparison::of_pairs } else { Comparison::of_runs };
    compare(&reports(base), &reports(new), options).map_err(|incomparable| {
        let (base, new) = (arguments.base.display(), arguments.new.display());
        let error = anyhow::anyhow!("{base} and {new}: {incomparable}; --across-machines compares them even so");
        Refusal::new(ExitCode::Usage, error)
    })
}
