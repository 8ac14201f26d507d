//! What a worker notes about its driver calls, into a pipe that outlives it.

use std::fs::File;
use std::io::{PipeReader, Read, Write};
use std::os::fd::OwnedFd;
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

/// All entries of a worker that has ended.
pub fn read(mut pipe: PipeReader) -> Vec<Entry> {
    let mut text = String::new();
    pipe.read_to_string(&mut text).unwrap();
    text.lines().map(entry).collect()
}

fn entry(line: &str) -> Entry {
    let (at, call) = line.split_once(' ').unwrap();
    Entry { at: Duration::from_nanos(at.parse().unwrap()), call: Call::from_name(call).unwrap() }
}
