//! A member of either barrier.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use peermap_ipc::{Barrier, Deadline, Member, SharedMemory};
use serde::{Deserialize, Serialize};

use super::spinning::{self, Spinning};
use crate::clock::nanoseconds;
use crate::error::BenchError;

/// How long a meeting may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Which barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// That of `peermap_ipc`, whose members sleep.
    Sleeping,
    /// A counter and a sense in shared memory, and members that spin without giving up their core.
    Spinning,
}

impl Kind {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sleeping => "sleeping",
            Self::Spinning => "spinning",
        }
    }

    /// Memory for so many members.
    pub(super) fn memory(self, members: u32) -> Result<OwnedFd, BenchError> {
        let copy = |memory: &dyn AsFd| memory.as_fd().try_clone_to_owned();
        let failed = |error: &dyn std::error::Error| BenchError::Run(format!("the memory of the barrier: {error}"));
        let copied = match self {
            Self::Sleeping => copy(&Barrier::create("bench", members).map_err(|error| failed(&error))?),
            Self::Spinning => copy(&SharedMemory::create("bench", spinning::BYTES).map_err(|error| failed(&error))?),
        };
        copied.map_err(|error| failed(&error))
    }
}

/// A member of either barrier.
pub(crate) enum AnyMember {
    Sleeping(Member),
    Spinning(Spinning),
}

impl AnyMember {
    /// Becomes a member, and keeps this process on so many of its cores.
    pub(crate) fn join(
        kind: Kind,
        memory: OwnedFd,
        member: u32,
        members: u32,
        cores: usize,
    ) -> Result<Self, BenchError> {
        stay_on(cores)
            .map_err(|error| BenchError::NotHere(format!("the cores of a process cannot be set: {error}")))?;
        let failed = |error: &dyn std::error::Error| BenchError::Run(format!("the barrier: {error}"));
        Ok(match kind {
            Kind::Sleeping => Self::Sleeping(Barrier::join(memory, member, members).map_err(|error| failed(&error))?),
            Kind::Spinning => {
                let memory = SharedMemory::from_fd(memory, spinning::BYTES).map_err(|error| failed(&error))?;
                Self::Spinning(Spinning::join(memory, members))
            }
        })
    }

    fn wait(&mut self) -> Result<(), BenchError> {
        match self {
            Self::Sleeping(member) => {
                let met = member.wait(Deadline::after(PATIENCE));
                met.map_err(|error| BenchError::Run(format!("the barrier: {error}")))
            }
            Self::Spinning(member) => {
                member.wait();
                Ok(())
            }
        }
    }

    /// Nanoseconds of each round. The first, which waits for the others to get their orders, does not count.
    pub(crate) fn meet(&mut self, rounds: u32) -> Result<Vec<f64>, BenchError> {
        self.wait()?;
        let mut passed = Instant::now();
        let mut round = |_| {
            self.wait()?;
            let before = std::mem::replace(&mut passed, Instant::now());
            Ok(nanoseconds(passed - before))
        };
        (0..rounds).map(&mut round).collect()
    }
}

/// Keeps this process on the first so many of the cores that it may use.
fn stay_on(cores: usize) -> nix::Result<()> {
    let myself = Pid::from_raw(0);
    let all = sched_getaffinity(myself)?;
    let mut few = CpuSet::new();
    let usable = (0..CpuSet::count()).filter(|core| all.is_set(*core).unwrap_or(false));
    usable.take(cores).try_for_each(|core| few.set(core))?;
    sched_setaffinity(myself, &few)
}
