//! Sets of lanes.

use std::ops::Range;

const WORDS: usize = 16;

/// As many threads as a block can have.
pub(crate) const MOST_LANES: usize = 64 * WORDS;

/// A set of the lanes of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mask([u64; WORDS]);

impl Mask {
    /// No lane.
    pub(crate) const NONE: Self = Self([0; WORDS]);

    /// The first `count` lanes.
    pub(crate) fn first(count: usize) -> Self {
        let bits = |word: usize| count.saturating_sub(64 * word).min(64) as u32;
        Self(std::array::from_fn(|word| u64::MAX.checked_shr(64 - bits(word)).unwrap_or(0)))
    }

    /// The lanes whose byte is 1; every byte is 0 or 1, and those of lanes that there are not are ignored later.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        let mut words = [0; WORDS];
        let (eights, rest) = bytes.as_chunks::<8>();
        for (place, eight) in eights.iter().enumerate() {
            words[place / 8] |= gathered(*eight) << (8 * (place % 8));
        }
        if !rest.is_empty() {
            let mut padded = [0; 8];
            padded[..rest.len()].copy_from_slice(rest);
            words[eights.len() / 8] |= gathered(padded) << (8 * (eights.len() % 8));
        }
        Self(words)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    pub(crate) fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    pub(crate) fn or(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// How many lanes are in the set.
    pub(crate) fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Those lanes of a warp that are in the set.
    pub(crate) fn warp(&self, warp: usize) -> u32 {
        (self.0[warp / 2] >> (32 * (warp % 2))) as u32
    }

    /// Puts lanes of a warp into the set.
    pub(crate) fn insert(&mut self, warp: usize, lanes: u32) {
        self.0[warp / 2] |= u64::from(lanes) << (32 * (warp % 2));
    }

    pub(crate) fn and_not(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    /// Those lanes for which something holds.
    pub(crate) fn filter(&self, holds: impl Fn(usize) -> bool) -> Self {
        let mut kept = Self::NONE;
        self.lanes().filter(|lane| holds(*lane)).for_each(|lane| kept.0[lane / 64] |= 1 << (lane % 64));
        kept
    }

    /// The lowest lane; there is one.
    pub(crate) fn lowest(&self) -> usize {
        self.lanes().next().unwrap_or(0)
    }

    pub(crate) fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        self.runs().flatten()
    }

    /// The lanes as runs without gaps, in order.
    pub(crate) fn runs(&self) -> Runs {
        Runs { mask: *self, from: 0 }
    }

    /// The first lane from `from` on that is in the set, or is not: [`MOST_LANES`] if there is none.
    fn next(&self, from: usize, present: bool) -> usize {
        let mut word = from / 64;
        let mut kept = u64::MAX << (from % 64);
        while word < WORDS {
            let bits = if present { self.0[word] } else { !self.0[word] } & kept;
            if bits != 0 {
                return 64 * word + bits.trailing_zeros() as usize;
            }
            (word, kept) = (word + 1, u64::MAX);
        }
        MOST_LANES
    }
}

/// The lowest bits of eight bytes that are 0 or 1, as one byte: the product brings them together at its top.
fn gathered(bytes: [u8; 8]) -> u64 {
    u64::from_le_bytes(bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The runs of a [`Mask`].
pub(crate) struct Runs {
    mask: Mask,
    from: usize,
}

impl Iterator for Runs {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.mask.next(self.from, true);
        if start == MOST_LANES {
            return None;
        }
        self.from = self.mask.next(start, false);
        Some(start..self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_what_lies_side_by_side() {
        let mut bytes = [0; 256];
        [0, 1, 63, 64, 65, 255].into_iter().for_each(|lane: usize| bytes[lane] = 1);
        let runs: Vec<_> = Mask::of_bytes(&bytes).runs().collect();
        assert_eq!(runs, [0..2, 63..66, 255..256]);
    }

    #[test]
    fn all_lanes_are_one_run() {
        for count in [70, MOST_LANES] {
            let mut runs = Mask::first(count).runs();
            assert_eq!((runs.next(), runs.next()), (Some(0..count), None));
        }
        assert!(Mask::first(0).is_empty());
    }
}
