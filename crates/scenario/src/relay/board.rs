//! What opens all buffers and events, in shared memory.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use peermap_driver::IpcEventHandle;
use peermap_ipc::{SharedMemory, ShmError};

/// What opens a buffer in another process: bytes that only the driver understands.
pub(crate) type Name = [u8; HANDLE];

/// What opens a buffer and its event in another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Handles {
    pub(super) memory: Name,
    pub(super) event: IpcEventHandle,
}

/// The size of whatever opens something in another process.
const HANDLE: usize = 64;
/// The size of an entry: both handles of a buffer.
const ENTRY: usize = 2 * HANDLE;
const ENTRY_WORDS: usize = ENTRY / size_of::<u32>();

/// The handles by the number of the buffer. Written once, before anybody else has the descriptor.
pub(super) struct Board(SharedMemory);

impl Board {
    /// Writes handles.
    pub(super) fn write(handles: &[Handles]) -> Result<Self, ShmError> {
        let memory = SharedMemory::create("relay-handles", handles.len() * ENTRY)?;
        for (entry, handles) in memory.atomics().chunks_exact(ENTRY_WORDS).zip(handles) {
            let (of_memory, of_event) = entry.split_at(ENTRY_WORDS / 2);
            store(of_memory, &handles.memory);
            store(of_event, &handles.event.0);
        }
        Ok(Self(memory))
    }

    /// The handles of `count` buffers that another process wrote.
    pub(super) fn read(fd: OwnedFd, count: u32) -> Result<Vec<Handles>, ShmError> {
        let memory = SharedMemory::from_fd(fd, count as usize * ENTRY)?;
        let read = |entry: &[AtomicU32]| {
            let (of_memory, of_event) = entry.split_at(ENTRY_WORDS / 2);
            Handles { memory: load(of_memory), event: IpcEventHandle(load(of_event)) }
        };
        Ok(memory.atomics().chunks_exact(ENTRY_WORDS).map(read).collect())
    }
}

impl AsFd for Board {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn store(words: &[AtomicU32], handle: &[u8; HANDLE]) {
    let (fours, _) = handle.as_chunks::<4>();
    for (word, four) in words.iter().zip(fours) {
        // The message with the descriptor orders these before whatever its receiver reads.
        word.store(u32::from_ne_bytes(*four), Ordering::Relaxed);
    }
}

fn load(words: &[AtomicU32]) -> [u8; HANDLE] {
    let mut handle = [0; HANDLE];
    let (fours, _) = handle.as_chunks_mut::<4>();
    for (four, word) in fours.iter_mut().zip(words) {
        *four = word.load(Ordering::Relaxed).to_ne_bytes();
    }
    handle
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handles(seed: u8) -> Handles {
        let bytes = |start: u8| std::array::from_fn(|index| start.wrapping_add(index as u8));
        Handles { memory: bytes(seed), event: IpcEventHandle(bytes(seed ^ 0xFF)) }
    }

    #[test]
    fn every_handle_arrives_unchanged_and_in_its_place() {
        let written = [handles(1), handles(77), handles(200)];
        let board = Board::write(&written).unwrap();
        let fd = || board.as_fd().try_clone_to_owned().unwrap();
        assert_eq!(Board::read(fd(), 3).unwrap(), written);
        assert!(matches!(Board::read(fd(), 2), Err(ShmError::WrongSize { expected: 256, found: 384 })));
    }
}
