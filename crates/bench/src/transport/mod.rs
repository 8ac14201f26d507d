//! How descriptors get from one end of a socket to the other.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use peermap_ipc::{Channel, Deadline, IpcError, MAX_FDS_PER_MESSAGE};

use crate::error::BenchError;
use crate::rig::Rig;
use crate::suite::{Group, Output, Planned, Suite};

/// The suite.
pub(crate) struct Transport;

const FULL: [usize; 6] = [0, 1, 4, 16, 64, MAX_FDS_PER_MESSAGE];
const QUICK: [usize; 3] = [0, 1, MAX_FDS_PER_MESSAGE];

/// How long an answer may take: the other end is a thread that does nothing else.
const PATIENCE: Duration = Duration::from_secs(10);

impl Suite for Transport {
    fn name(&self) -> &'static str {
        "transport"
    }

    fn plan<'r>(&self, rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
        let counts: &[usize] = if rig.effort.quick { &QUICK } else { &FULL };
        counts.iter().map(|count| group(*count)).collect()
    }
}

/// A message with so many descriptors to another thread and its answer without any.
fn group<'r>(count: usize) -> Planned<'r> {
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
        Ok(vec![start.elapsed().as_secs_f64() * 1e9])
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
