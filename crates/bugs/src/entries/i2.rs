//! I2: each crash left segments behind, until no start succeeded any more.
//!
//! A process that is killed, again and again, in the middle of having shared memory, a barrier and an address, leaves no name, and the next
//! one finds all that the first one found.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use peermap_ipc::{Deadline, TypedChannel, limits};

use crate::expect::same;
use crate::helper::{Help, Said};
use crate::play::Task;
use crate::stage::Stage;
use crate::trouble::Trouble;

/// How often a process is killed.
const CRASHES: usize = 12;

/// How long it may take to start and to end.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let before = (names(), limits::open_descriptors()?);
    for _ in 0..CRASHES {
        let (channel, mut child) = stage.launch().start(&Task::Help(Help::Leave), None)?;
        let mut line: TypedChannel<(), Said> = TypedChannel::new(channel);
        same("a start after a crash", line.recv(0, Deadline::after(PATIENCE))?.0, Said::Ready)?;
        child.kill()?;
        child.wait(Deadline::after(PATIENCE))?;
        drop((line, child));
        same("names and descriptors that stay", (names(), limits::open_descriptors()?), before.clone())?;
    }
    Ok(())
}

/// Our names where leftovers would lie, sockets included.
fn names() -> BTreeSet<String> {
    let files = ["/dev/shm", "/tmp"].into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let files = files.map(|entry| entry.path().display().to_string());
    let segments = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let segments: Vec<String> = segments.lines().map(str::to_owned).collect();
    files.filter(|path| path.contains("peermap-left")).chain(segments.into_iter().skip(1)).collect()
}
