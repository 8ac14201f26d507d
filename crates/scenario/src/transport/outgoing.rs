//! Handles that the parent exported, on their way to its workers.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use peermap_driver::{CuResult, Driver, DriverError, HandleType, MemHandle, Result, ShareableHandle};
use peermap_ipc::ShmError;

use super::{Carrier, FabricSlots};

/// Exported handles of one type, until every worker has them.
pub(crate) struct Outgoing {
    handle_type: HandleType,
    descriptors: Vec<OwnedFd>,
    /// Where they are written if they are fabric handles.
    fabric: Option<FabricSlots>,
}

impl Outgoing {
    /// Room for `count` handles.
    pub(crate) fn new(handle_type: HandleType, count: u32) -> std::result::Result<Self, ShmError> {
        let slots = || FabricSlots::create("fabric-handles", count);
        let fabric = (handle_type == HandleType::FABRIC).then(slots).transpose()?;
        Ok(Self { handle_type, descriptors: Vec::new(), fabric })
    }

    /// Exports something as the handle of the next number, which is this.
    pub(crate) fn export(&mut self, driver: &dyn Driver, number: u32, handle: MemHandle) -> Result<()> {
        match (driver.mem_export_to_shareable_handle(handle, self.handle_type, 0)?, &self.fabric) {
            (ShareableHandle::Fabric(handle), Some(slots)) => slots.put(number, &handle.0),
            (ShareableHandle::PosixFd(fd), _) => self.descriptors.push(fd),
            // No driver answers a wish for a descriptor with something else.
            (ShareableHandle::Fabric(_) | ShareableHandle::Win32(_), _) => {
                return Err(DriverError::refused(CuResult::UNKNOWN));
            }
        }
        Ok(())
    }

    /// The descriptors to hand to every worker.
    pub(crate) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.fabric.iter().map(AsFd::as_fd).chain(self.descriptors.iter().map(AsFd::as_fd)).collect()
    }

    /// What they are.
    pub(crate) fn carrier(&self) -> Carrier {
        if self.fabric.is_some() { Carrier::SharedMemory } else { Carrier::Descriptors }
    }

    /// Closes them, once every worker has its own copies.
    pub(crate) fn close(&mut self) {
        self.fabric = None;
        self.descriptors.clear();
    }
}
