//! What ranks write, and what must come of it.

use std::ops::Range;

use crate::content::Author;

/// Parts of the memory begin at multiples of so many bytes: the kernels reach that much at once.
const UNIT: u64 = 16;

/// In whose name a rank stores its part through the team. Fresh memory is zero, so nobody is.
pub(super) const fn author_of_part(rank: u32) -> Author {
    Author { worker: rank + 1, step: 0 }
}

/// In whose name a rank fills its own copy: a small number, so that those of all ranks add up to less than a byte.
pub(super) const fn author_of_copy(rank: u32) -> Author {
    Author { worker: 1 + rank % 7, step: 0 }
}

/// In whose name memory is filled that holds the sum of what all ranks filled theirs with.
pub(super) fn author_of_sum(ranks: u32) -> Author {
    Author { worker: (0..ranks).map(|rank| author_of_copy(rank).worker).sum(), step: 0 }
}

/// The part of a size that a rank stores. The last has what is left.
pub(super) fn part_of(size: u64, rank: u32, ranks: u32) -> Range<u64> {
    let part = size / u64::from(ranks) / UNIT * UNIT;
    let start = part * u64::from(rank);
    start..if rank + 1 == ranks { size } else { start + part }
}

/// What a rank has of the sum of squares that the norm is the root of. Sums of these are exact, in whatever order they are made.
pub(super) fn part_of_norm(rank: u32) -> f32 {
    let number = (rank + 1) as f32;
    number * number
}

/// The norm that all ranks come to.
pub(super) fn norm_of(ranks: u32) -> f32 {
    (0..ranks).map(part_of_norm).sum::<f32>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::MAX_DEVICES;

    #[test]
    fn the_parts_of_all_ranks_are_the_whole() {
        for (size, ranks) in [(4 << 20, 1), (4 << 20, 8), (2 << 20, 7), (64, 3)] {
            let parts: Vec<Range<u64>> = (0..ranks).map(|rank| part_of(size, rank, ranks)).collect();
            assert_eq!((parts[0].start, parts[parts.len() - 1].end), (0, size));
            assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(parts.iter().all(|part| part.start.is_multiple_of(UNIT) && !part.is_empty()));
        }
    }

    #[test]
    fn the_sum_of_as_many_ranks_as_there_can_be_is_one_byte() {
        assert!(author_of_sum(MAX_DEVICES as u32).worker < 256);
        assert_eq!(author_of_sum(3).worker, 6);
    }

    #[test]
    fn the_norm_is_that_of_the_numbers_from_one_on() {
        assert_eq!((norm_of(1), norm_of(2), norm_of(4)), (1.0, 5.0_f32.sqrt(), 30.0_f32.sqrt()));
    }
}
