//! Looking at processes from outside, and at what they leave behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Waits until a condition holds.
///
/// # Panics
/// With its name, if it does not hold within ten seconds.
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain for: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The children of a process.
#[must_use]
pub fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

/// The arguments of a process.
#[must_use]
pub fn arguments(pid: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    bytes.split(|byte| *byte == 0).map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

/// The children of a process that run a hidden subcommand.
#[must_use]
pub fn children_that_are(subcommand: &str, pid: u32) -> Vec<u32> {
    children(pid).into_iter().filter(|child| arguments(*child).iter().any(|part| part == subcommand)).collect()
}

/// Whether a process is there and no zombie.
#[must_use]
pub fn is_alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .ok()
        .and_then(|stat| stat.rsplit_once(") ").map(|(_, rest)| !rest.starts_with('Z')))
        .unwrap_or(false)
}

/// The names of ours in folders where leftovers would lie.
#[must_use]
pub fn leftovers() -> BTreeSet<String> {
    ["/dev/shm", "/tmp"]
        .into_iter()
        .filter_map(|folder| fs::read_dir(Path::new(folder)).ok())
        .flat_map(|entries| entries.flatten())
        .map(|entry| entry.path().display().to_string())
        .filter(|path| path.rsplit('/').next().is_some_and(|name| name.starts_with("peermap-")))
        .collect()
}
