//! The recordings that the rules name as their evidence.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use peermap_trace::{Reader, Trace};

/// The traces by file, as the rules name it, and by their own name.
pub fn recordings() -> BTreeMap<(String, String), Trace> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces");
    let files =
        ["vmm", "share", "legacy", "peer", "edges", "inflight", "random_1", "pools/one", "pools/two", "pools/busy"]
            .map(str::to_owned);
    let read = |file: String| {
        let traces = Reader::new(BufReader::new(File::open(folder.join(format!("{file}.jsonl"))).unwrap()));
        traces.map(move |trace| trace.map(|trace| ((file.clone(), trace.header.name.clone()), trace)).unwrap())
    };
    files.into_iter().chain(found(&folder)).flat_map(read).collect()
}

/// The recordings that random calls found.
fn found(folder: &Path) -> impl Iterator<Item = String> + use<> {
    let entries = fs::read_dir(folder.join("found")).unwrap().map(|entry| entry.unwrap().file_name());
    entries.filter_map(|name| Some(format!("found/{}", name.to_str()?.strip_suffix(".jsonl")?)))
}
