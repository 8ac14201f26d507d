//! A message with descriptors over a socket pair, and its answer without any.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use peermap_ipc::{Channel, Deadline, IpcError, MAX_FDS_PER_MESSAGE};

use super::PATIENCE;
use crate::error::BenchError;
use crate::owned::nanoseconds;
use crate::suite::{Group, Output, Planned};

/// A message with so many descriptors to another thread and its answer without any.
pub(super) fn group<'r>(count: usize) -> Planned<'r> {
    Planned {
        outputs: vec![Output::time("round_trip")],
        parameters: vec![("descriptors", count.to_string())],
        make: Box::new(move || Ok(Box::new(RoundTrip::start(count)?))),
    }
}

struct RoundTrip {
    channel: Option<Channel>,
    other: Option<JoinHandle<()>>,
    sent: File,
    count: usize,
}

impl RoundTrip {
    fn start(count: usize) -> Result<Self, BenchError> {
        let (channel, theirs) = Channel::pair()?;
        let sent = File::open("/dev/null").map_err(|error| BenchError::NotHere(error.to_string()))?;
        let other = thread::spawn(move || drop(answer(&theirs)));
        Ok(Self { channel: Some(channel), other: Some(other), sent, count })
    }
}

/// Closes what comes and answers, until the other end is gone.
fn answer(channel: &Channel) -> Result<(), IpcError> {
    loop {
        drop(channel.recv(MAX_FDS_PER_MESSAGE, Deadline::NEVER)?);
        channel.send(b"taken", &[], Deadline::after(PATIENCE))?;
    }
}

impl Group for RoundTrip {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let Some(channel) = &self.channel else { return Ok(Vec::new()) };
        let descriptors: Vec<BorrowedFd<'_>> = vec![self.sent.as_fd(); self.count];
        let start = Instant::now();
        channel.send(b"take", &descriptors, Deadline::after(PATIENCE))?;
        channel.recv(0, Deadline::after(PATIENCE))?;
        Ok(vec![nanoseconds(start.elapsed())])
    }
}

impl Drop for RoundTrip {
    fn drop(&mut self) {
        // The hang-up ends the thread.
        self.channel = None;
        if let Some(other) = self.other.take() {
            drop(other.join());
        }
    }
}
