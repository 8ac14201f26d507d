//! Rounds of a barrier between processes, which the command's suite measures too.

use std::time::Duration;

use peermap_bench::barrier::{Kind, Meeting};
use peermap_bench::{BenchError, Starter, partner_main};
use peermap_ipc::limits::usable_cores;
use peermap_ipc::{Channel, Child};

use crate::worker::spawn;

pub(crate) const ROLE: &str = "partner";

const CHANNEL: i32 = 3;

/// Starts this executable again, as a member.
struct Again;

impl Starter for Again {
    fn start(&self, _: bool) -> Result<(Child, Channel), BenchError> {
        let (spawn, channel) = spawn(ROLE).connect(CHANNEL)?;
        let child = spawn.spawn().map_err(|error| BenchError::NotHere(error.to_string()))?;
        Ok((child, channel))
    }
}

/// Processes that meet at a barrier when they are told to. They end when this is dropped.
pub struct Crew(Meeting);

impl Crew {
    /// Starts `members` processes on all cores.
    ///
    /// # Panics
    /// If the host has no process or descriptor left.
    #[must_use]
    pub fn start(kind: Kind, members: u32) -> Self {
        Self(Meeting::start(&Again, kind, members, usable_cores()).expect("processes can start"))
    }

    /// How long each of `count` rounds took, from one passage of the first member to its next.
    ///
    /// # Panics
    /// If a member has died.
    pub fn rounds(&mut self, count: u32) -> Vec<Duration> {
        let rounds = self.0.rounds(count).expect("every member lives");
        rounds.into_iter().map(|nanoseconds| Duration::from_secs_f64(nanoseconds / 1e9)).collect()
    }
}

/// A member.
pub(crate) fn play() {
    let channel = Channel::to_parent(CHANNEL).expect("the parent handed it over");
    let code = partner_main(channel, || Err("a member of a barrier has no driver".to_owned()));
    assert_eq!(code, 0, "the channel failed");
}
