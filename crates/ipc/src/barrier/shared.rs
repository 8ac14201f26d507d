//! The barrier in shared memory: the supervisor's side and a member's side.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use super::algorithm::Rounds;
use super::error::BarrierError;
use super::state::{MAX_MEMBER, Round};
use crate::limits::usable_cores;
use crate::{Deadline, SharedMemory};

/// The most members that a barrier can have.
pub const MAX_MEMBERS: u32 = 65_536;
const _: () = assert!(MAX_MEMBERS - 1 <= MAX_MEMBER);

/// First word of a barrier; the last digit counts versions of this layout.
const MAGIC: u32 = 0xBA88_1E01;
const MAGIC_WORD: usize = 0;
const MEMBERS_WORD: usize = 1;
/// The state has a cache line of its own: everybody reads it while the slots are being written.
const STATE_WORD: usize = 16;
const FIRST_SLOT: usize = 32;
const PAGE: usize = 4096;

/// Turns of a spinning wait before a member sleeps: some tens of microseconds, the price of a sleep and a wake-up.
const SPINS: u32 = 1000;

/// The supervisor's side of a barrier. It is no member and never waits.
#[derive(Debug)]
pub struct Barrier {
    memory: SharedMemory,
    members: u32,
}

/// A member's side of a barrier.
#[derive(Debug)]
pub struct Member {
    memory: SharedMemory,
    members: u32,
    member: u32,
    spins: u32,
}

impl Barrier {
    /// The size of the shared memory of a barrier of `members` members.
    ///
    /// # Units
    /// Bytes, in whole pages.
    #[must_use]
    pub const fn required_bytes(members: u32) -> usize {
        ((FIRST_SLOT + members as usize) * size_of::<AtomicU32>()).next_multiple_of(PAGE)
    }

    /// Makes a barrier for `members` members. The maker is none of them.
    ///
    /// # Errors
    /// [`BarrierError::BadMemberCount`], [`BarrierError::Memory`].
    pub fn create(label: &str, members: u32) -> Result<Self, BarrierError> {
        Self::create_at(label, members, Round::new(0))
    }

    fn create_at(label: &str, members: u32, start: Round) -> Result<Self, BarrierError> {
        check_count(members)?;
        let memory = SharedMemory::create(label, Self::required_bytes(members))?;
        let words = memory.atomics();
        words[MEMBERS_WORD].store(members, Ordering::Relaxed);
        words[STATE_WORD].store(start.word(), Ordering::Relaxed);
        for slot in rounds(&memory, members).slots {
            slot.store(start.word(), Ordering::Relaxed);
        }
        // The magic number comes last, so that whoever sees it sees the rest.
        words[MAGIC_WORD].store(MAGIC, Ordering::Release);
        Ok(Self { memory, members })
    }

    /// Takes part in a barrier as number `member` of `members`. Members count from 0.
    ///
    /// # Errors
    /// [`BarrierError::Memory`] if the descriptor is not sealed shared memory of the right size,
    /// [`BarrierError::NotABarrier`], [`BarrierError::WrongMemberCount`], [`BarrierError::NoSuchMember`].
    pub fn join(fd: OwnedFd, member: u32, members: u32) -> Result<Member, BarrierError> {
        check_count(members)?;
        check_number(member, members)?;
        let memory = SharedMemory::from_fd(fd, Self::required_bytes(members))?;
        let found = memory.atomics()[MAGIC_WORD].load(Ordering::Acquire);
        if found != MAGIC {
            return Err(BarrierError::NotABarrier { found });
        }
        let found = memory.atomics()[MEMBERS_WORD].load(Ordering::Relaxed);
        if found != members {
            return Err(BarrierError::WrongMemberCount { expected: members, found });
        }
        // Spinning pays only if everybody can run at the same time; else it keeps the last member off its core.
        let spins = if members as usize <= usable_cores() { SPINS } else { 0 };
        Ok(Member { memory, members, member, spins })
    }

    /// Makes the barrier unusable because `member` has died, and wakes everybody who waits. They and all later waits get
    /// [`BarrierError::MemberDied`]. Members of a round that was complete before still pass it.
    ///
    /// The first reason stays: a barrier that is unusable already is left as it is.
    ///
    /// # Errors
    /// [`BarrierError::NoSuchMember`].
    pub fn poison(&self, member: u32) -> Result<(), BarrierError> {
        check_number(member, self.members)?;
        rounds(&self.memory, self.members).poison(member)
    }

    /// For each member, how often it has arrived, to see who is where.
    ///
    /// # Units
    /// Arrivals, modulo 2^31.
    #[must_use]
    pub fn arrived(&self) -> Vec<u32> {
        rounds(&self.memory, self.members).arrived()
    }
}

impl AsFd for Barrier {
    /// The descriptor to hand to members.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.memory.as_fd()
    }
}

impl Member {
    /// Arrives, and waits until all members have arrived in this round. What any of them wrote before is then visible to
    /// all.
    ///
    /// # Errors
    /// [`BarrierError::TimedOut`] if the deadline passes; then the barrier is unusable for everybody, so that nobody who
    /// arrives later goes on alone. [`BarrierError::MemberDied`] if the supervisor says so.
    /// [`BarrierError::ArrivedTwice`] if another process uses this member's number.
    pub fn wait(&mut self, deadline: Deadline) -> Result<(), BarrierError> {
        rounds(&self.memory, self.members).wait(self.member, self.spins, deadline)
    }

    /// The number of this member.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.member
    }
}

/// The words that the algorithm works on. The memory was checked to have them.
fn rounds(memory: &SharedMemory, members: u32) -> Rounds<'_, AtomicU32> {
    let words = memory.atomics();
    Rounds { state: &words[STATE_WORD], slots: &words[FIRST_SLOT..FIRST_SLOT + members as usize] }
}

fn check_count(members: u32) -> Result<(), BarrierError> {
    if (1..=MAX_MEMBERS).contains(&members) {
        return Ok(());
    }
    Err(BarrierError::BadMemberCount { members, max: MAX_MEMBERS })
}

fn check_number(member: u32, members: u32) -> Result<(), BarrierError> {
    if member < members {
        return Ok(());
    }
    Err(BarrierError::NoSuchMember { member, members })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn join(barrier: &Barrier, member: u32) -> Member {
        let fd = barrier.as_fd().try_clone_to_owned().expect("a descriptor is free");
        Barrier::join(fd, member, barrier.members).expect("the barrier is ours")
    }

    #[test]
    fn rounds_go_on_when_the_counter_wraps() {
        let before_the_wrap = (u32::MAX >> 1) - 5;
        let barrier = Barrier::create_at("wrap", 3, Round::new(before_the_wrap)).expect("memory is there");
        std::thread::scope(|scope| {
            for member in 0..3 {
                let mut member = join(&barrier, member);
                scope.spawn(move || {
                    for round in 0..12 {
                        assert_eq!(member.wait(Deadline::after(Duration::from_secs(60))), Ok(()), "round {round}");
                    }
                });
            }
        });
        assert_eq!(barrier.arrived(), [6; 3]);
    }
}
