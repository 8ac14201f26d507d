//! What several tests need.

pub mod obliging;
pub mod scripted;

use std::path::PathBuf;

use peermap_trace::{ReadError, Reader, Trace};

/// The recordings, by the name of their file.
pub const FILES: [&str; 9] =
    ["vmm", "share", "legacy", "peer", "edges", "inflight", "random_1", "random_2", "random_peer"];

/// The text of a file of recordings.
pub fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/traces/{name}.jsonl"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads all traces of a text.
pub fn read(text: &str) -> Result<Vec<Trace>, ReadError> {
    Reader::new(text.as_bytes()).collect()
}

/// The header of a trace for a test.
pub const HEADER: &str = r#"{"trace": 1, "name": "test", "about": "", "machine": {"gpus": 1, "model": "m", "driver": "d", "cuda": 13000}, "needs": {"devices": 1}}"#;

/// A text with a header and the given steps.
pub fn with_header(steps: &[&str]) -> String {
    let lines: Vec<&str> = std::iter::once(HEADER).chain(steps.iter().copied()).collect();
    lines.join("\n") + "\n"
}
