//! The programs that say in a file beside them what they must do.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::case::{Argument, Case, Expected, Fault, NotModelled};

/// The file beside a program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sidecar {
    entry: String,
    grid: String,
    block: String,
    #[serde(default)]
    shared: u64,
    deadline: Option<u64>,
    args: Vec<String>,
    #[serde(default)]
    prints: Vec<String>,
    /// What checks find where the hardware lets a mistake pass.
    finds: Option<String>,
    expect: Outcome,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// Runs of a byte and how often it stands there.
    Buffers(BTreeMap<usize, Vec<(u8, usize)>>),
    Fault(Fault),
    NotModelled(NotModelled),
}

/// All of them, in the order of their names.
pub(crate) fn cases(fixtures: &Path) -> Vec<Case> {
    let groups = ["pass", "fault", "not_modelled"].map(|group| fixtures.join("golden").join(group));
    let mut files: Vec<_> = groups.iter().flat_map(|folder| programs(folder)).collect();
    files.sort();
    files.iter().map(|file| case(file)).collect()
}

fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let files = entries.map(|entry| entry.expect("an entry of the folder").path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "ptx")).collect()
}

fn case(file: &Path) -> Case {
    let beside = file.with_extension("json");
    let folder = file.parent().expect("a file lies in a folder");
    let text = fs::read(&beside).unwrap_or_else(|error| panic!("{}: {error}", beside.display()));
    let sidecar: Sidecar =
        serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", beside.display()));
    let name = |path: &Path| path.file_stem().expect("a name").to_string_lossy().into_owned();
    Case {
        name: format!("{}/{}", name(folder), name(file)),
        file: file.to_owned(),
        entry: sidecar.entry,
        grid: sidecar.grid,
        block: sidecar.block,
        shared: sidecar.shared,
        deadline: sidecar.deadline,
        arguments: sidecar.args.into_iter().map(|text| argument(folder, text)).collect(),
        prints: sidecar.prints,
        finds: sidecar.finds,
        expected: match sidecar.expect {
            Outcome::Buffers(buffers) => {
                Expected::Buffers(buffers.into_iter().map(|(argument, runs)| (argument, bytes(&runs))).collect())
            }
            Outcome::Fault(fault) => Expected::Fault(fault),
            Outcome::NotModelled(what) => Expected::NotModelled(what),
        },
    }
}

/// Files are named as seen from the sidecar.
fn argument(folder: &Path, text: String) -> Argument {
    match text.strip_prefix("buf@") {
        Some(file) => Argument::Text(format!("buf@{}", folder.join(file).display())),
        None => Argument::Text(text),
    }
}

fn bytes(runs: &[(u8, usize)]) -> Vec<u8> {
    runs.iter().flat_map(|(byte, count)| std::iter::repeat_n(*byte, *count)).collect()
}
