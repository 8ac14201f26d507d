//! The side of who wants a verdict.

use std::time::{Duration, Instant};

use peermap_ipc::{Deadline, IpcError, TypedChannel};

use super::launch::Launch;
use super::protocol::Task;
use crate::entry::{Entry, Played, Verdict};
use crate::trouble::Trouble;

/// How long a process may take to end once its channel is closed.
const LAST_BREATH: Duration = Duration::from_secs(5);

/// An entry could not be played.
#[derive(Debug, thiserror::Error)]
#[error("entry {id} cannot be played: {source}")]
pub struct PlayError {
    id: &'static str,
    source: Trouble,
}

/// Plays an entry in a process of its own, which is killed if it does not end in time.
///
/// # Errors
/// If the process cannot be started. One that dies is a verdict.
pub fn play(entry: &Entry, launch: &Launch, seed: u64, limit: Duration) -> Result<Played, PlayError> {
    let start = Instant::now();
    let verdict = verdict(entry, launch, seed, limit).map_err(|source| PlayError { id: entry.id, source })?;
    Ok(Played { verdict, took: start.elapsed() })
}

fn verdict(entry: &Entry, launch: &Launch, seed: u64, limit: Duration) -> Result<Verdict, Trouble> {
    let (channel, mut child) = launch.start(&Task::Play { id: entry.id.to_owned(), seed }, None)?;
    let mut line: TypedChannel<(), Verdict> = TypedChannel::new(channel);
    match line.recv(0, Deadline::after(limit)) {
        Ok((verdict, _)) => Ok(verdict),
        Err(IpcError::PeerClosed) => {
            let exit = child.wait(Deadline::after(LAST_BREATH))?;
            Ok(Verdict::Failed(format!("its process ended without a verdict: {exit}")))
        }
        Err(IpcError::TimedOut) => Ok(Verdict::Failed(format!("it did not end within {} s", limit.as_secs()))),
        Err(error) => Err(error.into()),
    }
}
