//! The address space: which ranges are taken, and where the next one goes.

use std::collections::BTreeMap;

use peermap_driver::CallSite;

use crate::chooser::Chooser;

/// What a range of addresses was taken for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RangeKind {
    /// By `cuMemAddressReserve`.
    Reservation,
    /// By `cuMemAlloc`.
    Legacy,
    /// By a memory pool.
    Pool,
}

/// A range of addresses that is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) start: u64,
    pub(super) size: u64,
    pub(super) kind: RangeKind,
    /// Asked for right behind another range, and there.
    pub(super) continues: bool,
    pub(super) site: CallSite,
}

impl Range {
    pub(super) const fn end(&self) -> u64 {
        self.start + self.size
    }
}

/// The device addresses of one process.
pub(super) struct AddressSpace {
    base: u64,
    end: u64,
    granule: u64,
    cursor: u64,
    taken: BTreeMap<u64, Range>,
}

impl AddressSpace {
    pub(super) fn new(base: u64, bytes: u64, granule: u64) -> Self {
        Self { base, end: base.saturating_add(bytes), granule, cursor: base, taken: BTreeMap::new() }
    }

    /// The range that holds an address.
    pub(super) fn containing(&self, address: u64) -> Option<&Range> {
        self.taken.range(..=address).next_back().map(|(_, range)| range).filter(|range| address < range.end())
    }

    /// The range that begins at an address.
    pub(super) fn starting_at(&self, address: u64) -> Option<&Range> {
        self.taken.get(&address)
    }

    /// A range of `cuMemAlloc` memory or of a pool that another range touches.
    pub(super) fn legacy_in(&self, start: u64, end: u64) -> Option<&Range> {
        let touched = self.taken.range(..end).rev().map(|(_, range)| range).take_while(|range| range.end() > start);
        touched.filter(|range| range.kind != RangeKind::Reservation).last()
    }

    /// How many addresses are taken.
    pub(super) fn taken(&self) -> u64 {
        self.taken.values().map(|range| range.size).sum()
    }

    pub(super) fn remove(&mut self, start: u64) {
        self.taken.remove(&start);
    }

    /// Takes a range: where it is asked for if that is free, else wherever there is room.
    pub(super) fn take(
        &mut self,
        size: u64,
        alignment: u64,
        hint: u64,
        kind: RangeKind,
        site: CallSite,
        chooser: &Chooser,
    ) -> Option<u64> {
        let alignment = alignment.max(self.granule);
        let wanted = (hint != 0 && hint.is_multiple_of(alignment) && self.is_free(hint, size)).then_some(hint);
        let start = match wanted {
            Some(start) => start,
            None if chooser.recycles() => self.first_fit(self.base, size, alignment)?,
            None => {
                let found = self
                    .first_fit(self.cursor, size, alignment)
                    .or_else(|| self.first_fit(self.base, size, alignment))?;
                self.cursor = found + size;
                found
            }
        };
        let continues = wanted.is_some_and(|start| start > self.base && self.containing(start - 1).is_some());
        self.taken.insert(start, Range { start, size, kind, continues, site });
        Some(start)
    }

    fn is_free(&self, start: u64, size: u64) -> bool {
        let Some(end) = start.checked_add(size) else { return false };
        let below_end = self.taken.range(..end).next_back();
        start >= self.base && end <= self.end && below_end.is_none_or(|(_, range)| range.end() <= start)
    }

    /// The lowest free place from `from` upwards.
    fn first_fit(&self, from: u64, size: u64, alignment: u64) -> Option<u64> {
        let mut start = self.containing(from).map_or(from, Range::end).checked_next_multiple_of(alignment)?;
        loop {
            let end = start.checked_add(size).filter(|end| *end <= self.end)?;
            match self.taken.range(..end).next_back() {
                Some((_, range)) if range.end() > start => start = range.end().checked_next_multiple_of(alignment)?,
                _ => return Some(start),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use peermap_driver::Call;

    use super::*;
    use crate::chooser::Policy;

    const SITE: CallSite = CallSite { process: 0, number: 1, call: Call::cuMemAddressReserve };

    fn take(space: &mut AddressSpace, size: u64, alignment: u64, hint: u64, policy: Policy) -> Option<u64> {
        space.take(size, alignment, hint, RangeKind::Reservation, SITE, &Chooser::new(policy, 0))
    }

    #[test]
    fn a_hint_is_honoured_where_it_is_free() {
        let mut space = AddressSpace::new(0x1000, 0x10000, 0x1000);
        assert_eq!(take(&mut space, 0x2000, 0, 0x5000, Policy::Measured), Some(0x5000));
        assert_ne!(take(&mut space, 0x2000, 0, 0x6000, Policy::Measured), Some(0x6000));
    }

    #[test]
    fn a_range_is_aligned_and_never_over_another() {
        let mut space = AddressSpace::new(0x1000, 0x10000, 0x1000);
        let first = take(&mut space, 0x1000, 0, 0, Policy::Measured).unwrap();
        let second = take(&mut space, 0x1000, 0x8000, 0, Policy::Measured).unwrap();
        assert_eq!(first, 0x1000);
        assert_eq!(second, 0x8000);
    }

    #[test]
    fn the_space_ends() {
        let mut space = AddressSpace::new(0x1000, 0x4000, 0x1000);
        assert_eq!(take(&mut space, 0x5000, 0, 0, Policy::Measured), None);
        assert_eq!(take(&mut space, u64::MAX - 0xfff, 0, 0, Policy::Measured), None);
        assert!(take(&mut space, 0x4000, 0, 0, Policy::Measured).is_some());
        assert_eq!(take(&mut space, 0x1000, 0, 0, Policy::Measured), None);
    }

    #[test]
    fn the_measured_policy_goes_on_and_the_hostile_one_recycles() {
        for (policy, expected) in [(Policy::Measured, 0x2000), (Policy::Hostile { seed: 1 }, 0x1000)] {
            let mut space = AddressSpace::new(0x1000, 0x10000, 0x1000);
            let first = take(&mut space, 0x1000, 0, 0, policy).unwrap();
            space.remove(first);
            assert_eq!(take(&mut space, 0x1000, 0, 0, policy), Some(expected));
        }
    }

    #[test]
    fn given_back_room_is_used_when_nothing_else_is_left() {
        let mut space = AddressSpace::new(0x1000, 0x2000, 0x1000);
        let first = take(&mut space, 0x1000, 0, 0, Policy::Measured).unwrap();
        take(&mut space, 0x1000, 0, 0, Policy::Measured).unwrap();
        space.remove(first);
        assert_eq!(take(&mut space, 0x1000, 0, 0, Policy::Measured), Some(first));
    }
}
