//! Where in an arena allocations lie, and how much memory its device has left.

use std::collections::BTreeMap;

use crate::chooser::Chooser;

/// The room of one device or NUMA node.
pub(super) struct Arena {
    granule: u64,
    capacity: u64,
    used: u64,
    granules: u64,
    /// Free ranges, the granule behind each to its first one; neighbours are always joined. Room is taken from the front,
    /// so that a range mostly stays where it is in the map.
    free: BTreeMap<u64, u64>,
}

impl Arena {
    pub(super) fn new(capacity: u64, room: u64, granule: u64) -> Self {
        let granules = (capacity / granule).saturating_mul(room);
        Self { granule, capacity, used: 0, granules, free: BTreeMap::from([(granules, 0)]) }
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
        let mut fitting = self.free.iter_mut().filter(|(end, start)| **end - **start >= needed);
        let (end, start) = if chooser.recycles() {
            let mut fitting: Vec<_> = fitting.collect();
            let picked = chooser.pick(fitting.len().max(1));
            (picked < fitting.len()).then(|| fitting.swap_remove(picked))?
        } else {
            fitting.next()?
        };
        let (end, first) = (*end, *start);
        *start += needed;
        if *start == end {
            self.free.remove(&end);
        }
        self.used += size;
        Some(first)
    }

    /// Gives room back and joins it with free neighbours.
    pub(super) fn give_back(&mut self, first: u64, size: u64) {
        let end = first + size / self.granule;
        let start = self.free.remove(&first).unwrap_or(first);
        match self.free.range_mut(end..).next() {
            Some((_, after)) if *after == end => *after = start,
            _ => drop(self.free.insert(end, start)),
        }
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
        assert_eq!(arena.free, BTreeMap::from([(16, 0)]));
        assert_eq!(arena.free(), 16);
    }

    #[test]
    fn the_first_room_that_is_large_enough_is_taken_from_its_front() {
        let mut arena = Arena::new(16, 1, 1);
        let mut chooser = Chooser::new(Policy::Measured, 0);
        assert_eq!([2, 4, 2].map(|size| arena.take(size, &mut chooser)), [Some(0), Some(2), Some(6)]);
        arena.give_back(0, 2);
        arena.give_back(6, 2);
        assert_eq!(arena.free, BTreeMap::from([(2, 0), (16, 6)]));
        assert_eq!([3, 1, 1].map(|size| arena.take(size, &mut chooser)), [Some(6), Some(0), Some(1)]);
        assert_eq!(arena.free, BTreeMap::from([(16, 9)]));
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
