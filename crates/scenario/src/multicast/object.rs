//! The multicast object, which the parent makes and holds.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use peermap_driver::{ByteSize, CuResult, Driver, DriverError, HandleType, MemHandle, MulticastObjectProp, Result};

use crate::parent::Supplies;

/// How it is shared.
const HANDLE_TYPE: HandleType = HandleType::POSIX_FILE_DESCRIPTOR;

/// What the object of so many devices is, each of which binds so much.
pub(super) const fn prop(devices: u32, size: ByteSize) -> MulticastObjectProp {
    MulticastObjectProp::team_of(devices, size, HANDLE_TYPE)
}

/// The handle that a descriptor of the object stands for in this process.
pub(super) fn import(driver: &dyn Driver, descriptor: BorrowedFd<'_>) -> Result<MemHandle> {
    driver.mem_import_from_shareable_handle(descriptor.into(), HANDLE_TYPE)
}

/// The multicast object of a run. It is given back when this is dropped.
pub(super) struct Object<'d> {
    driver: &'d dyn Driver,
    handle: Option<MemHandle>,
    exported: Option<OwnedFd>,
}

impl<'d> Object<'d> {
    /// Makes and exports it.
    pub(super) fn create(driver: &'d dyn Driver, devices: u32, size: ByteSize) -> Result<Self> {
        let handle = driver.multicast_create(&prop(devices, size))?;
        let mut object = Self { driver, handle: Some(handle), exported: None };
        let exported = driver.mem_export_to_shareable_handle(handle, HANDLE_TYPE, 0)?;
        // No driver answers a wish for a descriptor with anything else.
        object.exported = Some(exported.into_posix_fd().ok_or(DriverError::refused(CuResult::UNKNOWN))?);
        Ok(object)
    }

    fn give_back(&mut self) -> Result<()> {
        self.handle.take().map_or(Ok(()), |handle| self.driver.mem_release(handle))
    }
}

impl Supplies for Object<'_> {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.exported.iter().map(AsFd::as_fd).collect()
    }

    fn close_descriptors(&mut self) {
        self.exported = None;
    }

    fn release(mut self: Box<Self>) -> Result<()> {
        self.give_back()
    }
}

impl Drop for Object<'_> {
    fn drop(&mut self) {
        // The run has failed already, and that failure is the one to report.
        let _ = self.give_back();
    }
}
