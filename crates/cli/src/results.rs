//! Result files of benchmarks.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use peermap_report::ExitCode;
use peermap_report::bench::BenchReport;
use peermap_report::page::Named;

use crate::refusal::Refusal;
use crate::show;

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
