//! Bytes for each of several processes, in shared memory.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::word::Cell;
use crate::{SharedMemory, ShmError};

/// Slots of so many bytes, a multiple of four. Whoever writes one and whoever reads it must have met in between, at a
/// [`Barrier`](crate::Barrier) or by a message.
#[derive(Debug)]
pub struct Slots<const BYTES: usize>(SharedMemory);

impl<const BYTES: usize> Slots<BYTES> {
    const WORDS: usize = {
        assert!(BYTES.is_multiple_of(size_of::<u32>()), "a slot is a whole number of words");
        BYTES / size_of::<u32>()
    };

    /// Makes `count` slots, all zero.
    ///
    /// # Errors
    /// As [`SharedMemory::create`].
    pub fn create(label: &str, count: u32) -> Result<Self, ShmError> {
        SharedMemory::create(label, count as usize * BYTES).map(Self)
    }

    /// Takes the `count` slots that another process made.
    ///
    /// # Errors
    /// As [`SharedMemory::from_fd`].
    pub fn take(fd: OwnedFd, count: u32) -> Result<Self, ShmError> {
        SharedMemory::from_fd(fd, count as usize * BYTES).map(Self)
    }

    /// Writes a slot.
    ///
    /// # Panics
    /// If there is no slot of this number.
    pub fn put(&self, number: u32, bytes: &[u8; BYTES]) {
        write(self.slot(number), bytes);
    }

    /// Reads a slot.
    ///
    /// # Panics
    /// If there is no slot of this number.
    #[must_use]
    pub fn get(&self, number: u32) -> [u8; BYTES] {
        read(self.slot(number))
    }

    fn slot(&self, number: u32) -> &[AtomicU32] {
        let first = number as usize * Self::WORDS;
        &self.0.atomics()[first..first + Self::WORDS]
    }
}

impl<const BYTES: usize> AsFd for Slots<BYTES> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Relaxed, because the meeting of writer and reader orders these before whatever is read.
pub(crate) fn write<const BYTES: usize>(words: &[impl Cell], bytes: &[u8; BYTES]) {
    let (fours, _) = bytes.as_chunks::<4>();
    for (word, four) in words.iter().zip(fours) {
        word.store(u32::from_ne_bytes(*four), Relaxed);
    }
}

pub(crate) fn read<const BYTES: usize>(words: &[impl Cell]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    let (fours, _) = bytes.as_chunks_mut::<4>();
    for (four, word) in fours.iter_mut().zip(words) {
        *four = word.load(Relaxed).to_ne_bytes();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_arrives_unchanged_and_in_its_place() {
        let slots = Slots::<64>::create("slots", 3).unwrap();
        let written = [1, 77, 200].map(|seed: u8| std::array::from_fn(|index| seed.wrapping_add(index as u8)));
        for (number, bytes) in (0..).zip(&written) {
            slots.put(number, bytes);
        }
        let fd = || slots.as_fd().try_clone_to_owned().unwrap();
        let taken = Slots::take(fd(), 3).unwrap();
        assert_eq!([2, 0, 1].map(|number| taken.get(number)), [written[2], written[0], written[1]]);
        let wrong = Slots::<64>::take(fd(), 2).err();
        assert!(matches!(wrong, Some(ShmError::WrongSize { expected: 128, found: 192 })));
    }
}
