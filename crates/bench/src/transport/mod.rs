//! How descriptors and memory get from one process to another, and how long a process takes to start.
//!
//! | group | what it does |
//! | --- | --- |
//! | `round_trip.rs` | a message with descriptors over a socket pair, and its answer |
//! | `by_path.rs` | the same as NVIDIA's samples do it: datagram sockets that are found by their path, one descriptor a message |
//! | `memory.rs` | shared memory that is handed over, beside shared memory that is found by its name |
//! | `start.rs` | a process from its start until it runs, has a driver, has a context |
//!
//! The other end of the first three is a thread that does nothing else (`other_end.rs`).

mod by_path;
mod memory;
mod other_end;
mod round_trip;
mod start;

use std::time::Duration;

use peermap_ipc::MAX_FDS_PER_MESSAGE;

use crate::rig::Rig;
use crate::suite::{Planned, Suite};

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
        let by_path = counts.iter().filter(|count| **count > 0).map(|count| by_path::group(*count));
        let mut planned: Vec<Planned<'r>> =
            counts.iter().map(|count| round_trip::group(*count)).chain(by_path).collect();
        planned.extend([memory::group(), start::group(rig)]);
        planned
    }
}
