//! Bytes that open something in another process, in shared memory: a slot for each buffer.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use peermap_ipc::{SharedMemory, ShmError};

/// Slots of so many bytes, a multiple of four. Whoever writes one and whoever reads it must have met in between.
pub(crate) struct Slots<const BYTES: usize>(SharedMemory);

impl<const BYTES: usize> Slots<BYTES> {
    const WORDS: usize = BYTES / size_of::<u32>();

    /// Makes `count` slots.
    pub(crate) fn create(label: &str, count: u32) -> Result<Self, ShmError> {
        SharedMemory::create(label, count as usize * BYTES).map(Self)
    }

    /// Takes the `count` slots that another process made.
    pub(crate) fn take(fd: OwnedFd, count: u32) -> Result<Self, ShmError> {
        SharedMemory::from_fd(fd, count as usize * BYTES).map(Self)
    }

    /// Writes a slot.
    pub(crate) fn put(&self, number: u32, bytes: &[u8; BYTES]) {
        let (fours, _) = bytes.as_chunks::<4>();
        for (word, four) in self.slot(number).iter().zip(fours) {
            // The barrier, or the message with the descriptor, orders these before whatever is read.
            word.store(u32::from_ne_bytes(*four), Ordering::Relaxed);
        }
    }

    /// Reads a slot.
    pub(crate) fn get(&self, number: u32) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let (fours, _) = bytes.as_chunks_mut::<4>();
        for (four, word) in fours.iter_mut().zip(self.slot(number)) {
            *four = word.load(Ordering::Relaxed).to_ne_bytes();
        }
        bytes
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
