//! Which bytes of an arena have been written.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};

use crate::mapping::Mapping;
use crate::{MemoryError, Part, file};

/// Bytes that one word speaks for.
const WORD: u64 = u64::BITS as u64;

/// How many bytes of an arena one byte of marks speaks for.
pub(crate) const BYTES_PER_BYTE: u64 = 8;

/// One bit for each byte of an arena, set by the first write to it. All OS processes that hold the descriptor share them.
#[derive(Debug)]
pub(crate) struct Marks {
    file: OwnedFd,
    words: Mapping,
    count: usize,
}

impl Marks {
    /// Marks for an arena of so many bytes, none of which is written.
    pub(crate) fn create(arena: u8, bytes: u64) -> Result<Self, MemoryError> {
        let file = file::create(Part::Marks, &format!("peermap-marks-{arena}"), bytes / BYTES_PER_BYTE)?;
        Self::map(file, bytes)
    }

    /// The marks in a file, which has to fit an arena of so many bytes.
    pub(crate) fn map(file: OwnedFd, bytes: u64) -> Result<Self, MemoryError> {
        let size = bytes / BYTES_PER_BYTE;
        file::expect_size(Part::Marks, &file, size)?;
        let refused = |source| MemoryError::Map { part: Part::Marks, bytes: size, source };
        let words = Mapping::shared(file.as_fd(), size).map_err(refused)?;
        Ok(Self { file, words, count: (bytes / WORD) as usize })
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Marks bytes as written.
    pub(crate) fn set(&self, offset: u64, len: u64) {
        for (word, bits) in words(offset, len) {
            let word = &self.all()[word];
            // Most bytes are written more than once, and who only reads shares the line with others.
            if word.load(Ordering::Relaxed) & bits != bits {
                word.fetch_or(bits, Ordering::Relaxed);
            }
        }
    }

    /// The first byte of a range that is marked, or that is not.
    pub(crate) fn first(&self, marked: bool, offset: u64, len: u64) -> Option<u64> {
        let flip = if marked { 0 } else { u64::MAX };
        words(offset, len).find_map(|(word, bits)| {
            let found = bits & (self.all()[word].load(Ordering::Relaxed) ^ flip);
            (found != 0).then(|| word as u64 * WORD + u64::from(found.trailing_zeros()))
        })
    }

    /// Takes the marks of a range away. It is whole words: granules are.
    pub(crate) fn punch(&self, offset: u64, len: u64) -> Result<(), Errno> {
        let mode = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
        fallocate(&self.file, mode, (offset / BYTES_PER_BYTE) as i64, (len / BYTES_PER_BYTE) as i64)
    }

    /// Takes the marks of bytes away.
    pub(crate) fn unset(&self, offset: u64, len: u64) {
        for (word, bits) in words(offset, len) {
            self.all()[word].fetch_and(!bits, Ordering::Relaxed);
        }
    }

    fn all(&self) -> &[AtomicU64] {
        let first = self.words.start().cast::<AtomicU64>().as_ptr();
        // SAFETY: the mapping has `count` words and lives as long as `self`; any bits are valid for atomics, through
        // which all OS processes access it.
        unsafe { slice::from_raw_parts(first, self.count) }
    }
}

/// The words that speak for a range, and which bits of each do.
fn words(offset: u64, len: u64) -> impl Iterator<Item = (usize, u64)> {
    let end = offset + len;
    (offset / WORD..end.div_ceil(WORD)).filter(move |_| len > 0).map(move |word| {
        let (from, to) = (offset.max(word * WORD) % WORD, end.min((word + 1) * WORD) - word * WORD);
        (word as usize, (u64::MAX >> (WORD - (to - from))) << from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_bytes_of_a_range_are_marked() {
        let marks = Marks::create(0, 4096).unwrap();
        for (offset, len) in [(3, 5), (60, 8), (128, 64), (1000, 300), (4095, 1)] {
            marks.set(offset, len);
            assert_eq!(marks.first(true, offset - 1, len + 1), Some(offset), "{len} at {offset}");
            assert_eq!(marks.first(false, offset, len), None, "{len} at {offset}");
        }
        assert_eq!(marks.first(false, 3, 60), Some(8));
        assert_eq!(marks.first(false, 60, 200), Some(68));
        assert_eq!(marks.first(true, 10, 0), None);
    }

    #[test]
    fn marks_go_by_bytes_and_by_granules() {
        let marks = Marks::create(0, 8192).unwrap();
        marks.set(0, 8192);
        marks.unset(77, 2);
        assert_eq!((marks.first(false, 0, 8192), marks.first(true, 77, 100)), (Some(77), Some(79)));
        marks.punch(4096, 4096).unwrap();
        assert_eq!((marks.first(false, 79, 8000), marks.first(true, 4096, 4096)), (Some(4096), None));
    }
}
