//! Result files of benchmarks.

use std::fs;
use std::path::Path;

use anyhow::Context;
use peermap_report::ExitCode;
use peermap_report::bench::BenchReport;

use crate::refusal::Refusal;

/// Reads a result file. What is wrong with it names it.
pub(crate) fn read(path: &Path) -> Result<BenchReport, Refusal> {
    let text = fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()));
    let text = text.map_err(|error| Refusal::new(ExitCode::Usage, error))?;
    BenchReport::read(&text)
        .map_err(|error| Refusal::new(ExitCode::Usage, anyhow::anyhow!("{}: {error}", path.display())))
}
