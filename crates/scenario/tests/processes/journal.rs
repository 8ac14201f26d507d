//! What a worker notes about its driver calls, into a pipe that outlives it.

use std::fs::File;
use std::io::{BufRead, BufReader, PipeReader, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use peermap_driver::Call;

/// A call that a worker was about to make, and when, on the clock that all processes share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub at: Duration,
    pub call: Call,
}

/// The time of the clock that all processes share.
pub fn now() -> Duration {
    clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap().into()
}

/// The worker's end.
pub struct Journal(File);

impl Journal {
    pub fn new(pipe: OwnedFd) -> Self {
        Self(pipe.into())
    }

    /// Notes a call. Once this returns nothing that happens to the process can take the entry back.
    pub fn note(&self, call: Call) {
        let line = format!("{} {call}\n", now().as_nanos());
        (&self.0).write_all(line.as_bytes()).unwrap();
    }
}

/// The other end, once there is a worker.
#[derive(Clone, Default)]
pub struct Inbox(Arc<Mutex<Option<BufReader<PipeReader>>>>);

impl Inbox {
    pub fn put(&self, pipe: PipeReader) {
        *self.0.lock().unwrap() = Some(BufReader::new(pipe));
    }

    /// Waits until the worker is about to make a call. `false`: it has ended without.
    pub fn wait_for(&self, call: Call) -> bool {
        let mut pipe = self.0.lock().unwrap();
        entries(pipe.as_mut().expect("worker 1 was started")).any(|entry| entry.call == call)
    }

    /// The entries that were not read yet, of a worker that has ended. To be asked once.
    pub fn all(&self) -> Vec<Entry> {
        entries(self.0.lock().unwrap().take().expect("worker 1 was started")).collect()
    }
}

fn entries(pipe: impl BufRead) -> impl Iterator<Item = Entry> {
    pipe.lines().map(|line| entry(&line.unwrap()))
}

fn entry(line: &str) -> Entry {
    let (at, call) = line.split_once(' ').unwrap();
    Entry { at: Duration::from_nanos(at.parse().unwrap()), call: Call::from_name(call).unwrap() }
}
