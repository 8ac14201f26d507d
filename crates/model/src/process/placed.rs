//! The mappings of a process, by address.
//!
//! Programs map and unmap all the time among very many mappings, so what happens often must not be a search: each granule
//! says which mapping lies there. A mapping costs four bytes a granule, half of what it costs in the page table.

use std::collections::BTreeMap;

use super::mapping::Mapping;

/// Granules of a chunk. Chunks in which nothing is mapped do not exist.
const CHUNK: u64 = 128;

/// Which mappings lie at the granules of one chunk.
#[derive(Clone, Debug)]
struct Chunk {
    /// For each granule, one more than the place of its mapping's record; 0 for none.
    slots: [u32; CHUNK as usize],
    /// How many granules are mapped.
    mapped: u32,
}

/// The mappings of a process. They begin and end at granules and do not overlap.
#[derive(Debug)]
pub(super) struct Mappings {
    granule: u64,
    chunks: BTreeMap<u64, Box<Chunk>>,
    records: Vec<(u64, Mapping)>,
    /// Places of records that are not in use.
    unused: Vec<u32>,
}

impl Mappings {
    pub(super) const fn new(granule: u64) -> Self {
        Self { granule, chunks: BTreeMap::new(), records: Vec::new(), unused: Vec::new() }
    }

    fn record(&self, slot: u32) -> Option<(u64, &Mapping)> {
        let (start, mapping) = self.records.get(usize::try_from(slot.checked_sub(1)?).ok()?)?;
        Some((*start, mapping))
    }

    fn slot(&self, address: u64) -> u32 {
        let granule = address / self.granule;
        self.chunks.get(&(granule / CHUNK)).map_or(0, |chunk| chunk.slots[place_in_chunk(granule)])
    }

    /// The mapping that holds an address, with its start.
    pub(super) fn at(&self, address: u64) -> Option<(u64, &Mapping)> {
        self.record(self.slot(address))
    }

    /// The mapping that begins at an address.
    pub(super) fn starting_at_mut(&mut self, address: u64) -> Option<&mut Mapping> {
        let index = usize::try_from(self.slot(address).checked_sub(1)?).ok()?;
        self.records.get_mut(index).filter(|(start, _)| *start == address).map(|(_, mapping)| mapping)
    }

    /// The last mapping that touches a range, with its start.
    pub(super) fn last_in(&self, start: u64, end: u64) -> Option<(u64, &Mapping)> {
        let slot = self.parts(start, end).rev().find_map(|part| part.iter().rev().find(|slot| **slot != 0))?;
        self.record(*slot)
    }

    /// The mappings that begin in a range, with their starts, upwards.
    pub(super) fn starting_in(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, &Mapping)> {
        let mut from = start;
        std::iter::from_fn(move || {
            let first = self.first_starting_in(from, end)?;
            let (_, mapping) = self.record(self.slot(first))?;
            from = first + mapping.size;
            Some((first, mapping))
        })
    }

    /// The start of the first mapping that begins in a range.
    pub(super) fn first_starting_in(&self, start: u64, end: u64) -> Option<u64> {
        let mut slots = self.parts(start, end).flatten().filter(|slot| **slot != 0);
        slots.find_map(|slot| self.record(*slot).map(|(first, _)| first).filter(|first| *first >= start))
    }

    /// The slots of the granules that a range touches, chunk by chunk.
    fn parts(&self, start: u64, end: u64) -> impl DoubleEndedIterator<Item = &[u32]> {
        let (first, last) = (start / self.granule, end.saturating_sub(1) / self.granule);
        let chunks = (start < end).then(|| self.chunks.range(first / CHUNK..=last / CHUNK));
        chunks.into_iter().flatten().map(move |(number, chunk)| {
            let from = if *number == first / CHUNK { place_in_chunk(first) } else { 0 };
            let to = if *number == last / CHUNK { place_in_chunk(last) } else { place_in_chunk(CHUNK - 1) };
            &chunk.slots[from..=to]
        })
    }

    /// Adds a mapping where there is none.
    pub(super) fn insert(&mut self, start: u64, mapping: Mapping) {
        let size = mapping.size;
        let index = match self.unused.pop() {
            Some(index) => {
                self.records[index as usize] = (start, mapping);
                index
            }
            None => {
                self.records.push((start, mapping));
                u32::try_from(self.records.len() - 1).expect("fewer than 2^32 mappings")
            }
        };
        self.fill(start, size, index + 1);
    }

    /// Removes the mapping that begins at an address.
    pub(super) fn remove(&mut self, start: u64) -> Option<Mapping> {
        let index = self.slot(start).checked_sub(1)?;
        let (first, mapping) = *self.records.get(index as usize)?;
        if first != start {
            return None;
        }
        self.fill(start, mapping.size, 0);
        self.unused.push(index);
        Some(mapping)
    }

    /// Writes one slot for each granule of a range that is mapped as a whole or not at all.
    fn fill(&mut self, start: u64, size: u64, slot: u32) {
        let end = (start + size) / self.granule;
        let mut granule = start / self.granule;
        while granule < end {
            let number = granule / CHUNK;
            let part = (end.min((number + 1) * CHUNK) - granule) as usize;
            let chunk = self.chunks.entry(number).or_insert_with(Chunk::empty);
            chunk.slots[place_in_chunk(granule)..][..part].fill(slot);
            let part_count = part as u32;
            chunk.mapped = if slot == 0 { chunk.mapped - part_count } else { chunk.mapped + part_count };
            if chunk.mapped == 0 {
                self.chunks.remove(&number);
            }
            granule += u64::from(part_count);
        }
    }
}

impl Chunk {
    fn empty() -> Box<Self> {
        Box::new(Self { slots: [0; CHUNK as usize], mapped: 0 })
    }
}

const fn place_in_chunk(granule: u64) -> usize {
    (granule % CHUNK) as usize
}

#[cfg(test)]
mod tests {
    use peermap_driver::{Call, CallSite};
    use proptest::prelude::*;

    use super::*;
    use crate::process::mapping::RightsMap;
    use crate::wire::{Backing, Place, Rights};

    const GRANULE: u64 = 0x1000;

    fn mapping(granules: u64, number: u64) -> Mapping {
        Mapping {
            size: granules * GRANULE,
            handle: number,
            backing: Backing { arena: 0, first_granule: 0 },
            place: Place::Device(0),
            rights: RightsMap::default(),
            host_rights: Rights::None,
            site: CallSite { process: 0, number, call: Call::cuMemMap },
        }
    }

    /// What a list says that is searched from end to end: start, size and number of each mapping, by start.
    type List = Vec<(u64, u64, u64)>;

    fn told(found: Option<(u64, &Mapping)>) -> Option<(u64, u64, u64)> {
        found.map(|(start, mapping)| (start, mapping.size, mapping.handle))
    }

    /// Maps where the list has room, else removes what begins there, or nothing.
    fn change(mappings: &mut Mappings, list: &mut List, start: u64, granules: u64, number: u64) {
        let size = granules * GRANULE;
        let overlaps = list.iter().any(|(other, other_size, _)| *other < start + size && start < other + other_size);
        if overlaps {
            let removed = mappings.remove(start).map(|mapping| mapping.handle);
            let listed = list.iter().position(|(other, _, _)| *other == start).map(|index| list.remove(index).2);
            assert_eq!(removed, listed);
        } else {
            mappings.insert(start, mapping(granules, number));
            list.push((start, size, number));
            list.sort_unstable();
        }
    }

    proptest! {
        #[test]
        fn answers_are_those_of_a_list(
            steps in prop::collection::vec((0..600_u64, 1..300_u64), 1..60),
            asked in prop::collection::vec((0..950 * GRANULE, 0..950 * GRANULE), 20),
        ) {
            let (mut mappings, mut list) = (Mappings::new(GRANULE), List::new());
            for ((start, granules), number) in steps.into_iter().zip(1..) {
                change(&mut mappings, &mut list, start * GRANULE, granules, number);
            }
            for (start, end) in asked {
                let holds = |(first, size, _): &&(u64, u64, u64)| *first <= start && start < first + size;
                prop_assert_eq!(told(mappings.at(start)), list.iter().find(holds).copied());
                let touches = |(first, size, _): &&(u64, u64, u64)| start < end && *first < end && first + size > start;
                prop_assert_eq!(told(mappings.last_in(start, end)), list.iter().rev().find(touches).copied());
                let begins = |(first, _, _): &(u64, u64, u64)| (start..end).contains(first);
                let beginning: List = mappings.starting_in(start, end).filter_map(|found| told(Some(found))).collect();
                prop_assert_eq!(beginning, list.iter().copied().filter(begins).collect::<List>());
            }
        }
    }

    #[test]
    fn nothing_is_left_of_mappings_that_are_gone() {
        let mut mappings = Mappings::new(GRANULE);
        for round in 0..3 {
            mappings.insert(100 * GRANULE, mapping(1000, round));
            assert_eq!(mappings.remove(101 * GRANULE).map(|mapping| mapping.handle), None);
            assert_eq!(mappings.remove(100 * GRANULE).map(|mapping| mapping.handle), Some(round));
        }
        assert_eq!((mappings.chunks.len(), mappings.records.len()), (0, 1));
    }
}
