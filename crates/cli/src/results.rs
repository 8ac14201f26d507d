//! Result files of benchmarks.

use std::fmt::Display;
use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};
use peermap_report::ExitCode;
use peermap_report::bench::BenchReport;

use crate::refusal::Refusal;

/// Reads a result file. What is wrong with it names it.
pub(crate) fn read(path: &Path) -> Result<BenchReport, Refusal> {
    BenchReport::read(&text(path)?).map_err(|error| named(path, error))
}

/// The text of a file.
pub(crate) fn text(path: &Path) -> Result<String, Refusal> {
    let text = fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()));
    text.map_err(|error| Refusal::new(ExitCode::Usage, error))
}

/// What is wrong with the text of a file.
pub(crate) fn named(path: &Path, error: impl Display) -> Refusal {
    Refusal::new(ExitCode::Usage, anyhow!("{}: {error}", path.display()))
}
