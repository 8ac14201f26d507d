//! The one word that decides a round.
//!
//! | bits | while usable | when poisoned |
//! | --- | --- | --- |
//! | 0 | 0 | 1 |
//! | 1 | lowest bit of the number of completed rounds | the same, as it was |
//! | 2 | further bits of that number | 0 timed out, 1 a member died |
//! | 3..32 | further bits of that number | the member that is missing or died |
//!
//! Completing a round and poisoning it are changes of the same word, so exactly one of them happens. One bit of the round
//! is enough when poisoned: a member that waits in a round can see only that round or the next, since nobody can complete
//! the next one without it.

use std::fmt;

const POISONED: u32 = 1;
const PARITY: u32 = 1 << 1;
const DIED: u32 = 1 << 2;
const MEMBER_SHIFT: u32 = 3;

/// The largest member number that fits into the state word.
pub(super) const MAX_MEMBER: u32 = u32::MAX >> MEMBER_SHIFT;

/// A round, as it stands in the state word and in the slots: twice its number, so that bit 0 is free.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Round(u32);

impl Round {
    /// The round with this number, which counts modulo 2^31.
    pub(crate) fn new(number: u32) -> Self {
        Self(number << 1)
    }

    pub(super) fn from_word(word: u32) -> Self {
        Self(word & !POISONED)
    }

    pub(crate) fn word(self) -> u32 {
        self.0
    }

    pub(super) fn number(self) -> u32 {
        self.0 >> 1
    }

    /// The round after this one. It wraps from 2^31 - 1 to 0, and its parity goes on alternating.
    pub(crate) fn next(self) -> Self {
        Self(self.0.wrapping_add(2))
    }

    fn parity(self) -> u32 {
        self.0 & PARITY
    }
}

impl fmt::Debug for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Round({})", self.number())
    }
}

/// Why a barrier is unusable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Poison {
    /// A member gave up; `missing` is the first of those that it missed.
    TimedOut { missing: u32 },
    /// The supervisor said that `member` died.
    Died { member: u32 },
}

/// The meaning of a state word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// This round is being gathered.
    Open(Round),
    /// Unusable since a round with this parity.
    Poisoned { parity: u32, poison: Poison },
}

impl State {
    pub(super) fn from_word(word: u32) -> Self {
        if word & POISONED == 0 {
            return Self::Open(Round(word));
        }
        let member = word >> MEMBER_SHIFT;
        let poison = if word & DIED == 0 { Poison::TimedOut { missing: member } } else { Poison::Died { member } };
        Self::Poisoned { parity: word & PARITY, poison }
    }

    pub(super) fn word(self) -> u32 {
        match self {
            Self::Open(round) => round.word(),
            Self::Poisoned { parity, poison: Poison::TimedOut { missing } } => {
                POISONED | parity | missing << MEMBER_SHIFT
            }
            Self::Poisoned { parity, poison: Poison::Died { member } } => {
                POISONED | parity | DIED | member << MEMBER_SHIFT
            }
        }
    }

    /// The state after `round` was given up.
    pub(super) fn poisoned(round: Round, poison: Poison) -> Self {
        Self::Poisoned { parity: round.parity(), poison }
    }

    /// Whether a member that waits in `round` may go on.
    pub(super) fn has_completed(self, round: Round) -> bool {
        match self {
            Self::Open(open) => open != round,
            Self::Poisoned { parity, .. } => parity != round.parity(),
        }
    }

    /// Whether a slot with this content has not arrived in the round that this state is about.
    pub(super) fn is_missing(self, slot: Round) -> bool {
        match self {
            Self::Open(open) => slot == open,
            Self::Poisoned { parity, .. } => slot.parity() == parity,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_number_of_a_round_wraps_and_keeps_alternating() {
        let last = Round::new(u32::MAX >> 1);
        assert_eq!(last.word(), u32::MAX - 1);
        assert_eq!(last.next(), Round::new(0));
        assert_ne!(last.parity(), last.next().parity());
    }

    #[test]
    fn poison_keeps_who_was_in_which_round() {
        let round = Round::new(6);
        let state = State::poisoned(round, Poison::Died { member: 3 });
        assert!(!state.has_completed(round));
        assert!(state.has_completed(Round::new(5)));
        assert!(state.is_missing(round));
        assert!(!state.is_missing(round.next()));
    }

    proptest! {
        #[test]
        fn a_state_survives_its_word(word: u32) {
            prop_assert_eq!(State::from_word(word).word(), word);
        }

        #[test]
        fn a_poisoned_state_is_never_an_open_one(number: u32, member in 0..=MAX_MEMBER) {
            let round = Round::new(number);
            for poison in [Poison::Died { member }, Poison::TimedOut { missing: member }] {
                let state = State::poisoned(round, poison);
                prop_assert_eq!(State::from_word(state.word()), state);
                prop_assert_ne!(state.word(), round.word());
            }
        }
    }
}
