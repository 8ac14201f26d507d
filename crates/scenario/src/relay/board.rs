//! What opens all buffers and events, in shared memory.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use peermap_driver::IpcEventHandle;
use peermap_ipc::{ShmError, Slots};

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

/// The handles by the number of the buffer. Written once, before anybody else has the descriptor.
pub(super) struct Board(Slots<ENTRY>);

impl Board {
    /// Writes handles.
    pub(super) fn write(handles: &[Handles]) -> Result<Self, ShmError> {
        let slots = Slots::create("relay-handles", handles.len() as u32)?;
        for (number, handles) in (0..).zip(handles) {
            let mut entry = [0; ENTRY];
            entry[..HANDLE].copy_from_slice(&handles.memory);
            entry[HANDLE..].copy_from_slice(&handles.event.0);
            slots.put(number, &entry);
        }
        Ok(Self(slots))
    }

    /// The handles of `count` buffers that another process wrote.
    pub(super) fn read(fd: OwnedFd, count: u32) -> Result<Vec<Handles>, ShmError> {
        let slots = Slots::<ENTRY>::take(fd, count)?;
        let read = |number| {
            let entry = slots.get(number);
            let part = |first: usize| std::array::from_fn(|index| entry[first + index]);
            Handles { memory: part(0), event: IpcEventHandle(part(HANDLE)) }
        };
        Ok((0..count).map(read).collect())
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
