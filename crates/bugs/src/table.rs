//! All entries.

use peermap_model::rules;

use crate::entries;
use crate::entry::{Entry, Hardware, UnknownEntry};

/// Every entry, in the order of their names.
pub static ENTRIES: &[Entry] = &[
    Entry {
        id: "A1",
        title: "legacy export of cuMemMap memory",
        source: "vllm-project/vllm #42609",
        rules: &[&rules::LEGACY_1],
        also: "the attribute that says so",
        hardware: Hardware::Shows,
        sequence: entries::a1,
    },
];

/// The entries of these names, in any case of letters, in the order of the table; all if none is named.
///
/// # Errors
/// [`UnknownEntry`] with the names that there are.
pub fn choose(ids: &[String]) -> Result<Vec<&'static Entry>, UnknownEntry> {
    let known = |id: &str| ENTRIES.iter().any(|entry| entry.id.eq_ignore_ascii_case(id));
    if let Some(unknown) = ids.iter().find(|id| !known(id)) {
        let known = ENTRIES.iter().map(|entry| entry.id).collect();
        return Err(UnknownEntry { id: unknown.clone(), known });
    }
    let chosen = |entry: &&Entry| ids.is_empty() || ids.iter().any(|id| entry.id.eq_ignore_ascii_case(id));
    Ok(ENTRIES.iter().filter(chosen).collect())
}
