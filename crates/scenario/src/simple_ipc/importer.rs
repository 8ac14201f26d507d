//! The worker's side of the memory: it opens legacy handles and closes what they opened.

use peermap_driver::{DevicePtr, Driver, IpcMemHandle, Result};

use crate::relay::{self, Name};

/// Opens legacy handles.
pub(super) struct Importer<'d>(pub(super) &'d dyn Driver);

impl relay::Importer for Importer<'_> {
    fn import(&mut self, name: &Name) -> Result<DevicePtr> {
        self.0.ipc_open_mem_handle(&IpcMemHandle(*name), IpcMemHandle::LAZY_ENABLE_PEER_ACCESS)
    }

    fn give_back(self, buffers: &[DevicePtr]) -> Result<()> {
        buffers.iter().try_for_each(|ptr| self.0.ipc_close_mem_handle(*ptr))
    }
}
