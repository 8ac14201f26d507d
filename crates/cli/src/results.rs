//! Result files of benchmarks.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use peermap_report::ExitCode;
use peermap_report::bench::BenchReport;
use peermap_report::page::Named;

use crate::refusal::Refusal;
use crate::show;

/// Reads a result file. What is wrong with it names it.
pub(crate) fn read(path: &Path) -> Result<BenchReport, Refusal> {
    let text = fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()));
    let text = text.map_err(|error| Refusal::new(ExitCode::Usage, error))?;
    BenchReport::read(&text)
        .map_err(|error| Refusal::new(ExitCode::Usage, anyhow::anyhow!("{}: {error}", path.display())))
}

/// Reads result files, each called by the name of its file.
pub(crate) fn read_named<'f>(files: impl IntoIterator<Item = &'f PathBuf>) -> Result<Vec<Named>, Refusal> {
    let files: Vec<&PathBuf> = files.into_iter().collect();
    note_repeats(&files);
    let named = files.into_iter().map(|path| {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(Named { name, report: read(path)? })
    });
    named.collect()
}

/// Says which files are given more than once. Each counts as a run of its own, and so seems surer than it is.
pub(crate) fn note_repeats(files: &[impl AsRef<Path>]) {
    let mut seen = BTreeSet::new();
    let repeated: BTreeSet<&Path> = files.iter().map(AsRef::as_ref).filter(|file| !seen.insert(*file)).collect();
    for file in repeated {
        show::note(&format!("{} is given more than once, and counts each time", file.display()));
    }
}
