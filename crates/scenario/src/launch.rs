//! How worker processes are started.

use std::path::PathBuf;

use peermap_driver::{ByteSize, Uuid};
use peermap_ipc::{Channel, Output, Spawn, TypedChannel, limits};

use crate::backend::Backend;
use crate::crew::Hand;
use crate::error::RunError;

/// How worker processes are started: the executable, and the arguments that make it call
/// [`worker_main`](crate::worker_main).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// The executable.
    pub exe: PathBuf,
    /// Its arguments; those of the [`WorkerEndpoint`](crate::WorkerEndpoint) follow.
    pub args: Vec<String>,
}

/// The number of the run's channel in a worker.
pub(crate) const CHANNEL: i32 = 3;

/// Descriptors of the parent for each worker: channel, process, exported buffer, and one for the backend.
const PER_WORKER: u64 = 4;
/// Descriptors that a driver and the runtime open on top.
const SPARE: u64 = 64;

/// Whether a worker's driver gets the backend's [tuning](crate::WorkerEndpoint::tuning).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tuning {
    /// It does.
    OfBackend,
    /// It has its own defaults.
    None,
}

/// Starts a worker, on the node of a device if one is given.
pub(crate) fn spawn(
    worker: u32,
    device: Option<Uuid>,
    backend: &dyn Backend,
    launcher: &Launcher,
    tuning: Tuning,
) -> Result<Hand, RunError> {
    let channel = |source| RunError::Channel { worker, source };
    let tapped = |ours: Channel| match backend.tap() {
        Some(tap) => ours.tapped(tap),
        None => ours,
    };
    if let Some(troupe) = backend.troupe() {
        let (ours, theirs) = Channel::pair().map_err(channel)?;
        return Ok(Hand::new(worker, troupe.play(worker, theirs)?, TypedChannel::new(tapped(ours))));
    }
    let endpoint = match device {
        Some(device) => backend.worker_beside(worker, device)?,
        None => backend.worker(worker)?,
    };
    let (spawn, ours) = Spawn::new(&launcher.exe)
        .arg0("peermap")
        .args(&launcher.args)
        .args(&endpoint.args)
        // Standard output belongs to the result of the parent.
        .stdout(Output::Null)
        .connect(CHANNEL)
        .map_err(channel)?;
    let spawn = endpoint.descriptors.into_iter().fold(spawn, |spawn, (fd, number)| spawn.inherit(fd, number));
    let spawn = endpoint.tuning.into_iter().fold(spawn, |spawn, (name, value)| match tuning {
        Tuning::OfBackend => spawn.env(name, value),
        // This process may have it.
        Tuning::None => spawn.env_remove(name),
    });
    let child = spawn.spawn().map_err(|source| RunError::Spawn { worker, source })?;
    Ok(Hand::new(worker, child, TypedChannel::new(tapped(ours))))
}

/// Makes sure that the parent and each worker may have as many files open as they need: workers inherit the limit.
pub(crate) fn allow_descriptors(workers: u32) -> Result<(), RunError> {
    let open = limits::open_descriptors()? as u64;
    limits::raise_open_files(open + PER_WORKER * u64::from(workers) + SPARE)?;
    Ok(())
}

/// How many descriptors go into one message: the kernel bounds those in flight by the limit on open files.
pub(crate) fn descriptor_batch() -> Result<usize, RunError> {
    const MOST: u64 = 128;
    let limit = limits::open_files()?.soft;
    Ok((limit / 8).clamp(1, MOST) as usize)
}

/// The size that each of `workers` buffers can have in `total`.
pub(crate) fn share(total: ByteSize, workers: u32, granularity: ByteSize) -> Option<ByteSize> {
    let each = total.get() / u64::from(workers.max(1));
    let whole = each - each.checked_rem(granularity.get()).unwrap_or(0);
    (whole > 0).then_some(ByteSize::new(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_multiple_of_the_granularity_or_nothing() {
        assert_eq!(share(ByteSize::mib(15), 2, ByteSize::mib(2)), Some(ByteSize::mib(6)));
        assert_eq!(share(ByteSize::mib(3), 2, ByteSize::mib(2)), None);
    }
}
