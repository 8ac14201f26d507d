//! Where in an arena allocations lie, and how much memory its device has left.

use std::collections::BTreeMap;

use crate::chooser::Chooser;

/// The room of one device or NUMA node.
pub(super) struct Arena {
    granule: u64,
    capacity: u64,
    used: u64,
    granules: u64,
    /// Free ranges, first granule to number of granules; neighbours are always joined.
    free: BTreeMap<u64, u64>,
}

impl Arena {
    pub(super) fn new(capacity: u64, room: u64, granule: u64) -> Self {
        let granules = (capacity / granule).saturating_mul(room);
        Self { granule, capacity, used: 0, granules, free: BTreeMap::from([(0, granules)]) }
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.granules * self.granule
    }

    pub(super) const fn capacity(&self) -> u64 {
        self.capacity
    }

    pub(super) const fn free(&self) -> u64 {
        self.capacity - self.used
    }

    /// Takes contiguous room. The size is a multiple of the granule and no larger than what is free.
    pub(super) fn take(&mut self, size: u64, chooser: &mut Chooser) -> Option<u64> {
        let needed = size / self.granule;
        let (start, length) = if chooser.recycles() {
            let fitting: Vec<_> = self.free.iter().filter(|(_, length)| **length >= needed).collect();
            let (start, length) = *fitting.get(chooser.pick(fitting.len().max(1)))?;
            (*start, *length)
        } else {
            let (start, length) = self.free.iter().find(|(_, length)| **length >= needed)?;
            (*start, *length)
        };
        self.free.remove(&start);
        if length > needed {
            self.free.insert(start + needed, length - needed);
        }
        self.used += size;
        Some(start)
    }

    /// Gives room back and joins it with free neighbours.
    pub(super) fn give_back(&mut self, first: u64, size: u64) {
        let mut start = first;
        let mut length = size / self.granule;
        if let Some(after) = self.free.remove(&(start + length)) {
            length += after;
        }
        if let Some((before, before_length)) = self.free.range(..start).next_back().map(|(k, v)| (*k, *v))
            && before + before_length == start
        {
            self.free.remove(&before);
            start = before;
            length += before_length;
        }
        self.free.insert(start, length);
        self.used -= size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chooser::Policy;

    #[test]
    fn room_given_back_in_any_order_becomes_one_piece_again() {
        let mut arena = Arena::new(16, 1, 1);
        let mut chooser = Chooser::new(Policy::Measured, 0);
        let taken: Vec<u64> = (0..4).map(|_| arena.take(4, &mut chooser).unwrap()).collect();
        assert_eq!(taken, [0, 4, 8, 12]);
        assert_eq!(arena.take(4, &mut chooser), None);
        for first in [4, 12, 8, 0] {
            arena.give_back(first, 4);
        }
        assert_eq!(arena.free, BTreeMap::from([(0, 16)]));
        assert_eq!(arena.free(), 16);
    }

    #[test]
    fn a_hostile_choice_recycles_what_was_given_back() {
        let mut arena = Arena::new(1 << 20, 1, 1);
        let mut chooser = Chooser::new(Policy::Hostile { seed: 3 }, 0);
        let first = arena.take(1, &mut chooser).unwrap();
        arena.give_back(first, 1);
        assert_eq!(arena.take(1, &mut chooser), Some(first));
    }
}
