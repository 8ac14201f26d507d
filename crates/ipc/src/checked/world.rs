//! What a story needs of a checker.

use std::sync::Arc;

use crate::barrier::{Round, Rounds, Word};
use crate::{Deadline, slots};

/// What a process does.
pub(super) type Act = Box<dyn FnOnce() + Send>;

/// A checker's processes and words.
pub(super) trait World: 'static {
    type Word: Word + Send + Sync;

    /// A word that holds `value`.
    fn word(value: u32) -> Self::Word;

    /// Plays all acts at once, each as a process of its own, and waits for their ends.
    fn play(acts: Vec<Act>);
}

/// What the processes share: a barrier, and a slot of four bytes for each member.
pub(super) struct Hall<W: World> {
    state: W::Word,
    arrivals: Vec<W::Word>,
    slots: Vec<W::Word>,
}

impl<W: World> Hall<W> {
    /// A barrier of `members` that has completed `rounds` rounds.
    pub(super) fn new(members: u32, rounds: u32) -> Arc<Self> {
        let words = |value| (0..members).map(|_| W::word(value)).collect();
        let start = Round::new(rounds).word();
        Arc::new(Self { state: W::word(start), arrivals: words(start), slots: words(0) })
    }

    pub(super) fn barrier(&self) -> Rounds<'_, W::Word> {
        Rounds { state: &self.state, slots: &self.arrivals }
    }

    /// Arrives and waits, without spinning: one turn more of the loop would be nothing new.
    pub(super) fn wait(&self, member: u32, deadline: Deadline) -> Result<(), crate::BarrierError> {
        self.barrier().wait(member, 0, deadline)
    }

    pub(super) fn put(&self, member: u32, bytes: [u8; 4]) {
        slots::write(&self.slots[member as usize..][..1], &bytes);
    }

    /// What stands in all slots.
    pub(super) fn read(&self) -> Vec<[u8; 4]> {
        self.slots.chunks(1).map(slots::read).collect()
    }
}
