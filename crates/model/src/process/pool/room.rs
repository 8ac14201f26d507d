//! The addresses of one pool: what is allocated, what is free, and behind which of them there is memory.
//!
//! The driver reserves memory in units of 32 MiB and allocates from the tightest hole. What is freed stays with the pool
//! until a synchronisation has seen the free through; the memory behind it goes in whole units.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::seen::Ticket;
use crate::wire::{AllocId, Backing, POOL_UNIT as UNIT};

/// Allocations begin at multiples of this.
const ALIGNMENT: u64 = 512;

/// Memory behind 32 MiB of a pool's addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Unit {
    pub(super) alloc: AllocId,
    pub(super) backing: Backing,
}

/// A range that was freed in the order of a stream, and no synchronisation has seen it yet.
#[derive(Clone, Copy, Debug)]
struct Unseen {
    ticket: Ticket,
    start: u64,
    end: u64,
}

/// The addresses of a pool, as offsets from its base.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// The first address; 0 before the first allocation.
    pub(super) base: u64,
    pub(super) bytes: u64,
    /// Start and end of what is not allocated.
    holes: BTreeMap<u64, u64>,
    /// The memory, by the number of the unit.
    units: BTreeMap<u64, Unit>,
    unseen: Vec<Unseen>,
}

/// How much room an allocation takes up. `None`: no pool is that large.
pub(super) fn rounded(size: u64) -> Option<u64> {
    size.checked_next_multiple_of(ALIGNMENT)
}

impl Room {
    /// Gives a room its addresses.
    pub(super) fn open(&mut self, base: u64, bytes: u64) {
        (self.base, self.bytes) = (base, bytes);
        self.holes = BTreeMap::from([(0, bytes)]);
    }

    /// Bytes of memory that the pool has.
    pub(super) fn reserved(&self) -> u64 {
        self.units.len() as u64 * UNIT
    }

    /// Whether nothing is allocated.
    pub(super) fn is_empty(&self) -> bool {
        self.base == 0 || self.holes.get(&0) == Some(&self.bytes)
    }

    /// Where an allocation goes: into the tightest hole, and of equal ones into one that has memory. What `busy` frees gave
    /// back is no part of a hole.
    pub(super) fn find(&self, size: u64, busy: &BTreeSet<Ticket>) -> Option<u64> {
        let length = |start: u64, end: u64| if end == self.bytes { u64::MAX } else { end - start };
        let holes =
            if busy.is_empty() { Cow::Borrowed(&self.holes) } else { Cow::Owned(self.holes_without_busy(busy)) };
        let fitting = holes.iter().filter(|(start, end)| **end - **start >= size);
        let tightest = fitting.min_by_key(|(start, end)| {
            let bare = !self.units.contains_key(&(**start / UNIT));
            (length(**start, **end), bare, **start)
        });
        tightest.map(|(start, _)| *start)
    }

    /// The holes without that which `busy` frees gave back.
    fn holes_without_busy(&self, busy: &BTreeSet<Ticket>) -> BTreeMap<u64, u64> {
        self.holes.iter().flat_map(|(start, end)| self.without_busy(*start, *end, busy)).collect()
    }

    /// What is left of a hole without that which `busy` frees gave back.
    fn without_busy(&self, start: u64, end: u64, busy: &BTreeSet<Ticket>) -> Vec<(u64, u64)> {
        let mut left = vec![(start, end)];
        for piece in self.unseen.iter().filter(|piece| busy.contains(&piece.ticket)) {
            let parts = |(start, end): (u64, u64)| [(start, end.min(piece.start)), (start.max(piece.end), end)];
            left = left.into_iter().flat_map(parts).filter(|(start, end)| start < end).collect();
        }
        left
    }

    /// The units of a range.
    fn numbers(start: u64, size: u64) -> std::ops::Range<u64> {
        start / UNIT..(start + size).div_ceil(UNIT)
    }

    /// The units of a range that have no memory.
    pub(super) fn missing(&self, start: u64, size: u64) -> Vec<u64> {
        Self::numbers(start, size).filter(|number| !self.units.contains_key(number)).collect()
    }

    /// The memory of a range.
    pub(super) fn units_of(&self, start: u64, size: u64) -> impl Iterator<Item = (u64, Unit)> {
        self.units.range(Self::numbers(start, size)).map(|(number, unit)| (*number, *unit))
    }

    /// All memory.
    pub(super) fn units(&self) -> impl Iterator<Item = (u64, Unit)> {
        self.units.iter().map(|(number, unit)| (*number, *unit))
    }

    /// The memory of a unit, if it has some.
    pub(super) fn unit(&self, number: u64) -> Option<Unit> {
        self.units.get(&number).copied()
    }

    pub(super) fn add_unit(&mut self, number: u64, unit: Unit) {
        self.units.insert(number, unit);
    }

    pub(super) fn remove_unit(&mut self, number: u64) -> Option<Unit> {
        self.units.remove(&number)
    }

    /// The first address of a unit.
    pub(super) const fn address_of(&self, number: u64) -> u64 {
        self.base + number * UNIT
    }

    /// Allocates a range. False if it is not free.
    pub(super) fn take(&mut self, start: u64, size: u64) -> bool {
        let end = start + size;
        let hole = self.holes.range(..=start).next_back().map(|(first, last)| (*first, *last));
        let Some((first, last)) = hole.filter(|(_, last)| end <= *last) else { return false };
        self.holes.remove(&first);
        if first < start {
            self.holes.insert(first, start);
        }
        if end < last {
            self.holes.insert(end, last);
        }
        self.forget_unseen(start, end);
        true
    }

    /// The frees of a range that no synchronisation has seen.
    pub(super) fn unseen_in(&self, start: u64, size: u64) -> impl Iterator<Item = Ticket> {
        let overlaps = move |piece: &&Unseen| piece.start < start + size && start < piece.end;
        self.unseen.iter().filter(overlaps).map(|piece| piece.ticket)
    }

    /// All frees that no synchronisation has seen.
    pub(super) fn unseen(&self) -> impl Iterator<Item = Ticket> {
        self.unseen.iter().map(|piece| piece.ticket)
    }

    /// Who takes a range over comes behind the free of it; nothing is left to see through.
    fn forget_unseen(&mut self, start: u64, end: u64) {
        let mut left = Vec::with_capacity(self.unseen.len());
        for piece in self.unseen.drain(..) {
            let before = Unseen { end: piece.end.min(start), ..piece };
            let behind = Unseen { start: piece.start.max(end), ..piece };
            left.extend([before, behind].into_iter().filter(|part| part.start < part.end));
        }
        self.unseen = left;
    }

    /// Frees a range, in the order of a stream if there is a ticket.
    pub(super) fn give_back(&mut self, start: u64, size: u64, ticket: Option<Ticket>) {
        let (mut first, mut last) = (start, start + size);
        self.unseen.extend(ticket.map(|ticket| Unseen { ticket, start, end: start + size }));
        if let Some(after) = self.holes.remove(&last) {
            last = after;
        }
        if let Some((before, end)) = self.holes.range(..first).next_back().map(|(before, end)| (*before, *end))
            && end == first
        {
            first = before;
        }
        self.holes.insert(first, last);
    }

    /// A synchronisation has seen these frees through.
    pub(super) fn see(&mut self, tickets: &BTreeSet<Ticket>) {
        self.unseen.retain(|piece| !tickets.contains(&piece.ticket));
    }

    /// The units that may be given back to the device, the last ones first, if so many bytes are to be kept.
    pub(super) fn releasable(&self, keep: u64) -> Vec<u64> {
        let spare = self.reserved().saturating_sub(keep) / UNIT;
        let spare = usize::try_from(spare).unwrap_or(usize::MAX);
        self.units.keys().rev().copied().filter(|number| self.is_unused(*number)).take(spare).collect()
    }

    fn is_unused(&self, number: u64) -> bool {
        let (start, end) = (number * UNIT, (number + 1) * UNIT);
        let free = self.holes.range(..=start).next_back().is_some_and(|(_, last)| *last >= end.min(self.bytes));
        free && !self.unseen.iter().any(|piece| piece.start < end && start < piece.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const M: u64 = 1 << 20;

    fn room(allocated: &[u64]) -> Room {
        let mut room = Room::default();
        room.open(0x10_0000_0000, 1 << 30);
        for size in allocated {
            take(&mut room, *size);
        }
        room
    }

    fn take(room: &mut Room, size: u64) -> u64 {
        let start = room.find(size, &BTreeSet::new()).unwrap();
        for number in room.missing(start, size) {
            let unit = Unit { alloc: AllocId(number), backing: Backing { arena: 0, first_granule: 0 } };
            room.add_unit(number, unit);
        }
        assert!(room.take(start, size));
        start
    }

    #[test]
    fn an_allocation_goes_into_the_tightest_hole_and_the_open_end_is_the_loosest() {
        let mut room = room(&[8 * M, M, 2 * M, M]);
        room.give_back(0, 8 * M, None);
        room.give_back(9 * M, 2 * M, None);
        assert_eq!(take(&mut room, 2 * M), 9 * M);
        assert_eq!(take(&mut room, M), 0);
        assert_eq!(take(&mut room, 2 * M), M);
        assert_eq!(take(&mut room, 8 * M), 12 * M);
    }

    #[test]
    fn of_two_holes_that_fit_alike_the_one_with_memory_is_taken() {
        let mut room = room(&[UNIT, UNIT, UNIT, UNIT]);
        room.give_back(0, UNIT, None);
        room.give_back(2 * UNIT, UNIT, None);
        room.remove_unit(0);
        assert_eq!(room.find(8 * M, &BTreeSet::new()), Some(2 * UNIT));
    }

    #[test]
    fn what_a_busy_free_gave_back_is_no_part_of_a_hole() {
        let mut room = room(&[8 * M, M, 2 * M, M]);
        room.give_back(0, 8 * M, Some(Ticket(1)));
        room.give_back(9 * M, 2 * M, Some(Ticket(2)));
        assert_eq!(room.find(2 * M, &BTreeSet::from([Ticket(2)])), Some(0));
        assert_eq!(room.find(2 * M, &BTreeSet::from([Ticket(1), Ticket(2)])), Some(12 * M));
    }

    #[test]
    fn whole_units_go_the_last_one_first_and_only_what_is_not_to_be_kept() {
        let mut room = room(&[UNIT, UNIT, UNIT, UNIT]);
        room.give_back(0, UNIT, None);
        room.give_back(3 * UNIT, UNIT, None);
        assert_eq!(room.releasable(0), [3, 0]);
        assert_eq!(room.releasable(3 * UNIT), [3]);
        assert_eq!(room.releasable(3 * UNIT + 1), [0; 0]);
    }

    #[test]
    fn a_unit_stays_while_a_free_in_it_was_not_seen_or_something_is_allocated() {
        let mut room = room(&[UNIT, M]);
        let (first, second) = (Ticket(1), Ticket(2));
        room.give_back(0, UNIT, Some(first));
        room.give_back(UNIT, M, Some(second));
        assert_eq!(room.releasable(0), [0; 0]);
        room.see(&BTreeSet::from([second]));
        assert_eq!(room.releasable(0), [1]);
        assert_eq!(take(&mut room, M), 0);
        room.see(&BTreeSet::from([first]));
        assert_eq!(room.releasable(0), [1]);
        room.give_back(0, M, None);
        assert_eq!(room.releasable(0), [1, 0]);
    }

    #[test]
    fn who_takes_a_freed_range_leaves_the_rest_of_it_unseen() {
        let mut room = room(&[2 * UNIT]);
        room.give_back(0, 2 * UNIT, Some(Ticket(1)));
        assert_eq!(take(&mut room, M), 0);
        assert_eq!(room.releasable(0), [0; 0]);
        room.see(&BTreeSet::from([Ticket(1)]));
        assert_eq!(room.releasable(0), [1]);
    }
}
