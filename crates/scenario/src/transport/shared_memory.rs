//! Fabric handles in shared memory.

use std::os::fd::OwnedFd;

use peermap_driver::{FabricHandle, ShareableHandle};
use peermap_ipc::{Deadline, Member, Slots};

use super::{Meet, Transport, TransportError};

/// Fabric handles by the number of the buffer.
pub(crate) type FabricSlots = Slots<64>;

/// A slot for each rank. The parent has written all of them, or each rank writes its own.
pub(super) struct InSharedMemory {
    slots: FabricSlots,
    member: Member,
    ranks: u32,
}

impl InSharedMemory {
    /// The shared memory behind the first descriptor.
    pub(super) fn new(descriptors: Vec<OwnedFd>, member: Member, ranks: u32) -> Result<Self, TransportError> {
        let fd = descriptors.into_iter().next().ok_or(TransportError::NoHandles)?;
        Ok(Self { slots: FabricSlots::take(fd, ranks)?, member, ranks })
    }
}

impl Meet for InSharedMemory {
    fn meet(&mut self, deadline: Deadline) -> Result<(), TransportError> {
        self.member.meet(deadline)
    }
}

impl Transport for InSharedMemory {
    fn exchange(
        &mut self,
        own: Option<&ShareableHandle>,
        deadline: Deadline,
    ) -> Result<Vec<ShareableHandle>, TransportError> {
        match own {
            Some(ShareableHandle::Fabric(handle)) => {
                self.slots.put(self.member.number(), &handle.0);
                self.meet(deadline)?;
            }
            Some(ShareableHandle::PosixFd(_) | ShareableHandle::Win32(_)) => {
                return Err(TransportError::NotCarried { what: "a handle of one process", how: "in shared memory" });
            }
            None => {}
        }
        let read = |rank| ShareableHandle::Fabric(FabricHandle(self.slots.get(rank)));
        Ok((0..self.ranks).map(read).collect())
    }
}
