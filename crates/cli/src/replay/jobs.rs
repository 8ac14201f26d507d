//! Several traces at once.

use std::fs::File;
use std::io::BufReader;
use std::iter::Peekable;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock};
use std::thread;

use peermap_driver::{Call, CuResult};
use peermap_trace::{Reader, StepResult, Trace};

use super::tally::{Played, Tally};
use super::{Replaying, present};
use crate::play::{malformed, open, without_traces};
use crate::refusal::Refusal;

/// What faults of kernels are reported as.
const FAULTS: [CuResult; 6] = [
    CuResult::ILLEGAL_ADDRESS,
    CuResult::LAUNCH_FAILED,
    CuResult::LAUNCH_TIMEOUT,
    CuResult::HARDWARE_STACK_ERROR,
    CuResult::ILLEGAL_INSTRUCTION,
    CuResult::MISALIGNED_ADDRESS,
];

/// Plays traces in several threads. Each holds one trace in memory. The order of what is printed is that of the files.
pub(super) fn play(replay: &Replaying, files: &[PathBuf], jobs: u32) -> Result<Tally, Refusal> {
    let traces = Mutex::new(traces(files).enumerate());
    let machine = RwLock::new(());
    let played = Mutex::new(Vec::new());
    let work = || -> Result<(), Refusal> {
        loop {
            // The lock is let go before the trace is played.
            let next = traces.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((index, trace)) = next else { return Ok(()) };
            let came = trace.and_then(|(file, trace)| one(replay, &machine, file, trace))?;
            played.lock().unwrap_or_else(PoisonError::into_inner).push((index, came));
        }
    };
    let done: Result<(), Refusal> = thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        ended.collect()
    });
    done.and_then(|()| sum(replay, played.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

/// The traces of a file, of which there is at least one.
fn reader(file: &Path) -> Result<Peekable<Reader<BufReader<File>>>, Refusal> {
    let mut reader = Reader::new(open(file)?).peekable();
    match reader.peek() {
        Some(_) => Ok(reader),
        None => Err(without_traces(file)),
    }
}

/// The traces of all files, each with its file.
fn traces(files: &[PathBuf]) -> impl Iterator<Item = Result<(&Path, Trace), Refusal>> + Send {
    files.iter().flat_map(|file| {
        let (reader, error) = match reader(file) {
            Ok(reader) => (Some(reader), None),
            Err(refusal) => (None, Some(Err(refusal))),
        };
        let named = move |trace| (file.as_path(), trace);
        let read =
            reader.into_iter().flatten().map(move |trace| trace.map(named).map_err(|error| malformed(file, error)));
        error.into_iter().chain(read)
    })
}

fn one(replay: &Replaying, machine: &RwLock<()>, file: &Path, trace: Trace) -> Result<Played, Refusal> {
    let alone = must_run_alone(&trace);
    let _others = (!alone).then(|| machine.read().unwrap_or_else(PoisonError::into_inner));
    let _nobody = alone.then(|| machine.write().unwrap_or_else(PoisonError::into_inner));
    replay.trace(file, &trace.header, &mut trace.steps.into_iter().map(Ok))
}

/// Whether others would change what a trace sees, or it what they see: it reads free memory, faults or crashes.
pub(crate) fn must_run_alone(trace: &Trace) -> bool {
    trace.steps.iter().any(|step| {
        step.call.driver_call() == Some(Call::cuMemGetInfo)
            || step.result.ends_the_process()
            || FAULTS.iter().any(|fault| step.result == StepResult::Cuda(*fault))
    })
}

fn sum(replay: &Replaying, mut played: Vec<(usize, Played)>) -> Result<Tally, Refusal> {
    played.sort_by_key(|(index, _)| *index);
    let mut tally = Tally::default();
    for (_, played) in played {
        present::progress(&played, replay.json)?;
        tally.add(played);
    }
    Ok(tally)
}
