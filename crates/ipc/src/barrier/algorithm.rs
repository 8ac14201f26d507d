//! The algorithm, over any word that can be changed atomically and slept on.
//!
//! A member arrives by moving its slot to the next round. Whoever then sees that no slot is behind completes the round by
//! moving the state word, and wakes the others. There is no counter, so nothing is lost if a member is killed between
//! arriving and completing: the others complete the round for it when their deadline comes.

use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};

use nix::errno::Errno;

use super::error::BarrierError;
use super::state::{Poison, Round, State};
use crate::Deadline;
use crate::word::Cell;

/// How a sleep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    /// The word changed, somebody called, or for no reason at all: look again.
    LookAgain,
    /// The deadline passed.
    DeadlinePassed,
}

/// A word shared by all members: an atomic number that one can sleep on.
pub(crate) trait Word: Cell {
    fn compare_exchange(&self, current: u32, new: u32, ok: Ordering, failed: Ordering) -> Result<u32, u32>;
    /// A sequentially consistent fence.
    fn fence();
    /// One turn of a spinning wait.
    fn spin();
    /// Sleeps if the word holds `value`, until [`Word::wake_all`] or the deadline. A change of the word before the sleep
    /// begins must not be missed.
    fn sleep_while(&self, value: u32, deadline: Deadline) -> Result<Woken, Errno>;
    /// Wakes everybody who sleeps on this word.
    fn wake_all(&self) -> Result<(), Errno>;
}

/// The shared words of a barrier.
pub(crate) struct Rounds<'a, W> {
    pub(crate) state: &'a W,
    pub(crate) slots: &'a [W],
}

impl<W: Word> Rounds<'_, W> {
    /// Arrives as `member` and waits for the others.
    pub(crate) fn wait(&self, member: u32, spins: u32, deadline: Deadline) -> Result<(), BarrierError> {
        let round = self.arrive(member)?;
        if self.first_missing(round).is_none() {
            self.complete(round)?;
        }
        for _ in 0..spins {
            if let Some(outcome) = self.outcome(round) {
                return outcome;
            }
            W::spin();
        }
        loop {
            if let Some(outcome) = self.outcome(round) {
                return outcome;
            }
            let woken = self.state.sleep_while(round.word(), deadline).map_err(futex_error)?;
            if woken == Woken::DeadlinePassed {
                return self.give_up(round);
            }
        }
    }

    /// Makes the barrier unusable because `member` died, unless it is unusable already.
    pub(crate) fn poison(&self, member: u32) -> Result<(), BarrierError> {
        loop {
            let State::Open(round) = self.look() else { return Ok(()) };
            if self.close(round, Poison::Died { member })? {
                return Ok(());
            }
        }
    }

    /// How many rounds each member has arrived in, modulo 2^31.
    pub(super) fn arrived(&self) -> Vec<u32> {
        self.slots.iter().map(|slot| Round::from_word(slot.load(Acquire)).number()).collect()
    }

    pub(crate) fn arrive(&self, member: u32) -> Result<Round, BarrierError> {
        let round = match self.look() {
            State::Open(round) => round,
            state @ State::Poisoned { poison, .. } => return Err(self.poison_error(state, poison)),
        };
        let Some(slot) = self.slots.get(member as usize) else {
            return Err(BarrierError::NoSuchMember { member, members: self.slots.len() as u32 });
        };
        // Release: what this member wrote before the barrier is seen by whoever reads the slot with Acquire, which is
        // what completes the round. An exchange rather than a store, so that of two processes under one number the
        // second is told.
        if slot.compare_exchange(round.word(), round.next().word(), Release, Relaxed).is_err() {
            return Err(BarrierError::ArrivedTwice { member });
        }
        // Of two members that arrive at the same time, each writes its own slot and then reads the other's. Without a
        // sequentially consistent fence between the two, both may read the old value and nobody would complete the
        // round. With it, the member whose fence is last in the single order of fences sees every slot.
        W::fence();
        Ok(round)
    }

    /// The first member that has not arrived in `round`.
    pub(crate) fn first_missing(&self, round: Round) -> Option<u32> {
        // Acquire pairs with the Release in `arrive`; the Release in `complete` hands it on to all who wait.
        self.slots.iter().position(|slot| slot.load(Acquire) == round.word()).map(|index| index as u32)
    }

    /// Moves the state to the next round and wakes the others, if nobody else has.
    fn complete(&self, round: Round) -> Result<(), BarrierError> {
        if self.turn(round) {
            self.state.wake_all().map_err(futex_error)?;
        }
        Ok(())
    }

    /// Moves the state to the next round; `false` if somebody else has moved it.
    pub(crate) fn turn(&self, round: Round) -> bool {
        // AcqRel: Release so that members which see the new state with Acquire see what all members wrote before they
        // arrived. Failure needs no order, because the state is read again.
        self.state.compare_exchange(round.word(), round.next().word(), AcqRel, Relaxed).is_ok()
    }

    /// Makes the barrier unusable in `round`; `false` if that round is over already.
    fn close(&self, round: Round, poison: Poison) -> Result<bool, BarrierError> {
        let closed = State::poisoned(round, poison).word();
        let changed = self.state.compare_exchange(round.word(), closed, AcqRel, Relaxed).is_ok();
        if changed {
            self.state.wake_all().map_err(futex_error)?;
        }
        Ok(changed)
    }

    /// What a member does whose deadline has passed.
    fn give_up(&self, round: Round) -> Result<(), BarrierError> {
        loop {
            if let Some(outcome) = self.outcome(round) {
                return outcome;
            }
            let Some(first) = self.first_missing(round) else {
                // All are here, but the last one was stopped before it could complete the round.
                self.complete(round)?;
                continue;
            };
            let missing = self.missing(State::Open(round), first);
            // If this fails the round was completed or poisoned in the meantime, and the next turn says so.
            if self.close(round, Poison::TimedOut { missing: first })? {
                return Err(BarrierError::TimedOut { missing });
            }
        }
    }

    /// How the wait in `round` ended, if it did.
    fn outcome(&self, round: Round) -> Option<Result<(), BarrierError>> {
        let state = self.look();
        if state.has_completed(round) {
            return Some(Ok(()));
        }
        match state {
            State::Open(_) => None,
            State::Poisoned { poison, .. } => Some(Err(self.poison_error(state, poison))),
        }
    }

    fn look(&self) -> State {
        // Acquire pairs with the Release in `complete` and `close`.
        State::from_word(self.state.load(Acquire))
    }

    /// The error that `poison` in `state` stands for.
    fn poison_error(&self, state: State, poison: Poison) -> BarrierError {
        match poison {
            Poison::Died { member } => BarrierError::MemberDied { member },
            Poison::TimedOut { missing } => BarrierError::TimedOut { missing: self.missing(state, missing) },
        }
    }

    /// Who has not arrived in the round of `state`, and `first` even if it arrived too late.
    fn missing(&self, state: State, first: u32) -> Vec<u32> {
        let behind = |slot: &W| state.is_missing(Round::from_word(slot.load(Acquire)));
        (0u32..).zip(self.slots).filter(|(member, slot)| *member == first || behind(slot)).map(|(m, _)| m).collect()
    }
}

fn futex_error(source: Errno) -> BarrierError {
    BarrierError::System { call: "futex", source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    fn words(rounds: &[u32]) -> Vec<AtomicU32> {
        rounds.iter().map(|number| AtomicU32::new(Round::new(*number).word())).collect()
    }

    #[test]
    fn a_member_killed_between_arriving_and_completing_holds_nobody_up() {
        let (state, slots) = (&words(&[4])[0], words(&[5, 5, 5]));
        let rounds = Rounds { state, slots: &slots };
        assert_eq!(rounds.give_up(Round::new(4)), Ok(()));
        assert_eq!(rounds.look(), State::Open(Round::new(5)));
    }

    #[test]
    fn a_deadline_that_passes_when_the_round_is_complete_is_no_timeout() {
        let (state, slots) = (&words(&[5])[0], words(&[5, 6]));
        let rounds = Rounds { state, slots: &slots };
        assert_eq!(rounds.give_up(Round::new(4)), Ok(()));
        assert_eq!(rounds.look(), State::Open(Round::new(5)));
    }

    #[test]
    fn a_number_that_arrived_in_this_round_is_refused_and_the_round_stays_open() {
        let (state, slots) = (&words(&[4])[0], words(&[5, 4]));
        let rounds = Rounds { state, slots: &slots };
        assert_eq!(rounds.wait(0, 0, Deadline::NEVER), Err(BarrierError::ArrivedTwice { member: 0 }));
        assert_eq!(rounds.look(), State::Open(Round::new(4)));
    }

    #[test]
    fn a_member_that_comes_after_the_timeout_is_still_named_with_the_others() {
        let (state, slots) = (&words(&[4])[0], words(&[5, 4, 4]));
        let rounds = Rounds { state, slots: &slots };
        assert_eq!(rounds.give_up(Round::new(4)), Err(BarrierError::TimedOut { missing: vec![1, 2] }));
        // Member 1 had looked at the state before the timeout and writes its slot only now.
        slots[1].store(Round::new(5).word(), Ordering::SeqCst);
        assert_eq!(rounds.outcome(Round::new(4)), Some(Err(BarrierError::TimedOut { missing: vec![1, 2] })));
    }

    #[test]
    fn poison_lets_members_of_a_complete_round_pass_and_stops_the_next() {
        let (state, slots) = (&words(&[5])[0], words(&[5, 5]));
        let rounds = Rounds { state, slots: &slots };
        assert_eq!(rounds.poison(1), Ok(()));
        assert_eq!(rounds.outcome(Round::new(4)), Some(Ok(())));
        assert_eq!(rounds.wait(0, 0, Deadline::NEVER), Err(BarrierError::MemberDied { member: 1 }));
    }

    #[test]
    fn the_first_reason_for_being_unusable_stays() {
        let (state, slots) = (&words(&[4])[0], words(&[5, 4, 4]));
        let rounds = Rounds { state, slots: &slots };
        assert_eq!(rounds.poison(2), Ok(()));
        assert_eq!(rounds.poison(1), Ok(()));
        assert_eq!(rounds.give_up(Round::new(4)), Err(BarrierError::MemberDied { member: 2 }));
    }
}
