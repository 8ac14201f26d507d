//! A message with descriptors over a socket pair, and its answer without any.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use peermap_ipc::{Channel, Deadline, MAX_FDS_PER_MESSAGE};

use super::PATIENCE;
use super::other_end::OtherEnd;
use crate::clock::nanoseconds;
use crate::error::BenchError;
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
    other: OtherEnd,
    sent: File,
    count: usize,
}

impl RoundTrip {
    fn start(count: usize) -> Result<Self, BenchError> {
        let sent = File::open("/dev/null").map_err(|error| BenchError::NotHere(error.to_string()))?;
        Ok(Self { other: OtherEnd::start(answer)?, sent, count })
    }
}

/// Closes what comes and answers, until the other end is gone.
fn answer(channel: &Channel) -> Result<(), BenchError> {
    loop {
        drop(channel.recv(MAX_FDS_PER_MESSAGE, Deadline::NEVER)?);
        channel.send(b"taken", &[], Deadline::after(PATIENCE))?;
    }
}

impl Group for RoundTrip {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let channel = self.other.channel();
        let descriptors: Vec<BorrowedFd<'_>> = vec![self.sent.as_fd(); self.count];
        let start = Instant::now();
        channel.send(b"take", &descriptors, Deadline::after(PATIENCE))?;
        channel.recv(0, Deadline::after(PATIENCE))?;
        Ok(vec![nanoseconds(start.elapsed())])
    }
}
