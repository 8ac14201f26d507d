//! The recordings that the atlas counts: those in the command, or files.

use std::io::{BufRead, Cursor};
use std::path::PathBuf;

use crate::play::open;
use crate::refusal::Refusal;

/// A recording that is in the command.
macro_rules! recorded {
    ($name:literal) => {
        ($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces/", $name, ".jsonl")))
    };
}

/// The recordings of the hardware.
const RECORDED: &[(&str, &str)] = &[
    recorded!("vmm"),
    recorded!("share"),
    recorded!("legacy"),
    recorded!("legacy/contexts"),
    recorded!("peer"),
    recorded!("edges"),
    recorded!("inflight"),
    recorded!("random_1"),
    recorded!("random_2"),
    recorded!("random_peer"),
    recorded!("pools/one"),
    recorded!("pools/two"),
    recorded!("pools/busy"),
    recorded!("found/address-range-no-context"),
    recorded!("found/address-range-other-device"),
    recorded!("found/address-range-rights"),
    recorded!("found/device-pointer-no-context"),
    recorded!("found/device-pointer-no-right"),
    recorded!("found/get-access-device-first"),
    recorded!("found/legacy-close-no-context"),
    recorded!("found/legacy-handle-no-context"),
    recorded!("found/legacy-open-flags-first"),
    recorded!("found/legacy-open-more-flags"),
    recorded!("found/legacy-open-second-context"),
    recorded!("found/legacy-opened-ordinal"),
    recorded!("found/legacy-opened-other-context"),
    recorded!("found/legacy-opened-other-device"),
    recorded!("found/legacy-reopen-exporter-exits"),
    recorded!("found/legacy-reopen-exporter-frees"),
    recorded!("found/legacy-reopen-other-context"),
    recorded!("found/legacy-reopen-other-device"),
    recorded!("found/memset-other-device"),
    recorded!("found/memset-second-context"),
    recorded!("found/pool-refused-high-water"),
];

/// The recording that moves gigabytes.
const SLOW: &str = "inflight";

/// Some traces, and where they come from.
pub(super) struct Recording {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) text: Box<dyn BufRead>,
}

/// The files, or the recordings in the command if there are none. With `quick`, the one that takes seconds is left out.
pub(super) fn choose(files: &[PathBuf], quick: bool) -> Result<Vec<Recording>, Refusal> {
    if !files.is_empty() {
        let stem = |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let opened =
            |path: &PathBuf| Ok(Recording { name: stem(path), path: path.clone(), text: Box::new(open(path)?) });
        return files.iter().map(opened).collect();
    }
    let chosen = RECORDED.iter().filter(|(name, _)| !(quick && *name == SLOW));
    let recording = |&(name, text): &(&str, &'static str)| Recording {
        name: name.to_owned(),
        path: PathBuf::from(name).with_extension("jsonl"),
        text: Box::new(Cursor::new(text)) as Box<dyn BufRead>,
    };
    Ok(chosen.map(recording).collect())
}
