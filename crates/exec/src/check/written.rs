//! Who wrote each byte last.

use std::collections::BTreeMap;

use crate::check::history::LaunchId;
use crate::check::order::{BlockId, Time};

/// A place in memory, whatever addresses lead there: an arena and an offset; in the shared memory of a block 0 and an
/// offset.
pub(super) type Place = (u8, u64);

/// The most runs that are kept; one takes about a hundred bytes.
const MOST_RUNS: usize = 1 << 22;

/// One store of a group of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) launch: LaunchId,
    /// Its number in the launch.
    pub(super) block: u64,
    pub(super) instruction: u32,
    pub(super) time: Time,
    /// Whether it cannot race: it is an atomic operation or has an order.
    pub(super) strong: bool,
}

impl Event {
    pub(super) const fn block_id(&self) -> BlockId {
        (self.launch, self.block)
    }
}

/// Bytes side by side that lanes side by side wrote in one store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) event: Event,
    /// Where the bytes of the first lane start, which may have been written over since.
    pub(super) start: u64,
    /// Behind the bytes of the last.
    pub(super) end: u64,
    pub(super) first_lane: usize,
    /// How many bytes each lane wrote.
    pub(super) each: u64,
    /// The address of the first byte.
    pub(super) address: u64,
}

impl Run {
    /// The lane that wrote the byte at an offset.
    pub(super) fn lane(&self, offset: u64) -> usize {
        self.first_lane + ((offset - self.start) / self.each) as usize
    }

    /// The address by which the byte at an offset was written.
    pub(super) fn address(&self, offset: u64) -> u64 {
        self.address + (offset - self.start)
    }
}

/// The last writer of each byte that launches have written to memory of one kind.
#[derive(Debug, Default)]
pub(super) struct Written(BTreeMap<Place, Run>);

/// There are more runs than are kept.
pub(super) struct Full;

impl Full {
    pub(super) const WHAT: &str = "a check of races or aliases where more than 4194304 pieces of memory are written";
}

impl Written {
    /// The runs that touch a range: the first offset that both have, how many bytes that are, and the run.
    pub(super) fn touching(&self, (space, start): Place, len: u64) -> impl Iterator<Item = (u64, u64, &Run)> {
        let end = start + len;
        let before = self.0.range(..(space, start)).next_back();
        let before = before.filter(move |((other, _), run)| *other == space && run.end > start);
        before.into_iter().chain(self.0.range((space, start)..(space, end))).map(move |((_, first), run)| {
            let first = start.max(*first);
            (first, end.min(run.end) - first, run)
        })
    }

    /// Notes a run; what it covers of others is theirs no more.
    pub(super) fn note(&mut self, space: u8, run: Run) -> Result<(), Full> {
        let (start, end) = (run.start, run.end);
        if let Some((_, before)) = self.0.range_mut(..(space, start)).next_back().filter(|((it, _), _)| *it == space) {
            let whole = *before;
            before.end = before.end.min(start);
            if whole.end > end {
                self.0.insert((space, end), whole);
            }
        }
        while let Some((place, covered)) = self.0.range((space, start)..(space, end)).next().map(|(at, it)| (*at, *it))
        {
            self.0.remove(&place);
            if covered.end > end {
                self.0.insert((space, end), covered);
            }
        }
        if self.0.len() >= MOST_RUNS {
            return Err(Full);
        }
        self.0.insert((space, start), run);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(instruction: u32, start: u64, end: u64) -> Run {
        let event = Event { launch: 0, block: 0, instruction, time: 0, strong: false };
        Run { event, start, end, first_lane: 10, each: 2, address: 0x1000 + start }
    }

    fn told(written: &Written, start: u64, len: u64) -> Vec<(u64, u64, u32)> {
        written.touching((0, start), len).map(|(at, len, run)| (at, len, run.event.instruction)).collect()
    }

    #[test]
    fn the_last_writer_of_each_byte_is_kept() {
        let mut written = Written::default();
        for run in [run(1, 0, 100), run(2, 10, 20), run(3, 18, 30), run(4, 90, 110)] {
            assert!(written.note(0, run).is_ok());
        }
        let expected = [(0, 10, 1), (10, 8, 2), (18, 12, 3), (30, 60, 1), (90, 20, 4)];
        assert_eq!(told(&written, 0, 200), expected);
        assert_eq!(told(&written, 35, 1), [(35, 1, 1)]);
        assert_eq!(told(&written, 110, 5), []);
        let (at, _, last) = written.touching((0, 95), 1).last().unwrap();
        assert_eq!((last.lane(at), last.address(at)), (12, 0x1000 + 95));
    }

    #[test]
    fn a_run_that_covers_others_leaves_nothing_of_them() {
        let mut written = Written::default();
        for run in [run(1, 10, 20), run(2, 30, 40), run(3, 5, 50)] {
            assert!(written.note(0, run).is_ok());
        }
        assert_eq!(told(&written, 0, 100), [(5, 45, 3)]);
    }

    #[test]
    fn arenas_are_apart() {
        let mut written = Written::default();
        for arena in [0, 1, 2] {
            assert!(written.note(arena, run(arena.into(), 0, 10)).is_ok());
        }
        let instructions = written.touching((1, 5), 10).map(|(at, len, run)| (at, len, run.event.instruction));
        assert_eq!(instructions.collect::<Vec<_>>(), [(5, 5, 1)]);
    }
}
