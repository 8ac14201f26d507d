//! What the workers tell each other: a counter of pieces, and how much each device can.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use peermap_ipc::{SharedMemory, ShmError};

/// The counter, then two numbers for each worker.
pub(super) struct Board(SharedMemory);

/// How many bytes it has for so many workers.
const fn size(workers: u32) -> usize {
    size_of::<AtomicU32>() * (1 + 2 * workers as usize)
}

impl Board {
    /// Makes one.
    pub(super) fn create(workers: u32) -> Result<Self, ShmError> {
        SharedMemory::create("stripe-board", size(workers)).map(Self)
    }

    /// Takes the one that the parent made.
    pub(super) fn open(fd: OwnedFd, workers: u32) -> Result<Self, ShmError> {
        SharedMemory::from_fd(fd, size(workers)).map(Self)
    }

    /// The number of the next piece that nobody has taken.
    pub(super) fn next_piece(&self) -> u32 {
        self.0.atomics()[0].fetch_add(1, Ordering::Relaxed)
    }

    /// Tells what a worker's device can. A barrier orders it before what others ask.
    pub(super) fn tell(&self, worker: u32, (computes, moves): (f64, f64)) {
        for (word, number) in self.of(worker).iter().zip([computes, moves]) {
            word.store((number as f32).to_bits(), Ordering::Relaxed);
        }
    }

    /// What each device can.
    pub(super) fn told(&self, workers: u32) -> Vec<(f64, f64)> {
        let number = |word: &AtomicU32| f64::from(f32::from_bits(word.load(Ordering::Relaxed)));
        (0..workers).map(|worker| (number(&self.of(worker)[0]), number(&self.of(worker)[1]))).collect()
    }

    fn of(&self, worker: u32) -> &[AtomicU32] {
        &self.0.atomics()[1 + 2 * worker as usize..][..2]
    }
}

impl AsFd for Board {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_tells_another_reads() {
        let board = Board::create(3).unwrap();
        let other = Board::open(board.as_fd().try_clone_to_owned().unwrap(), 3).unwrap();
        board.tell(1, (2.0, 0.5));
        assert_eq!(other.told(3), [(0.0, 0.0), (2.0, 0.5), (0.0, 0.0)]);
        assert_eq!([board.next_piece(), other.next_piece(), board.next_piece()], [0, 1, 2]);
    }
}
