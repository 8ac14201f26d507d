//! Handing memory to other processes: export, import, legacy handles.

use std::ffi::c_void;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use peermap_driver::{
    CuResult, DevicePtr, DriverError, Event, FabricHandle, HandleType, IpcEventHandle, IpcMemHandle, MemHandle,
    OsHandle, Result, ShareableHandle,
};

use crate::driver::CudaDriver;
use crate::layout::{AnyValue, CuIpcHandle};

impl CudaDriver {
    pub(crate) fn mem_export_to_shareable_handle(
        &self,
        handle: MemHandle,
        handle_type: HandleType,
        flags: u64,
    ) -> Result<ShareableHandle> {
        // Filled with ones, so that what the driver does not write reads as descriptor -1 and never as descriptor 0.
        let mut shareable = AnyValue::filled(0xFF);
        // SAFETY: the call writes an `int` or 64 bytes, by type; a `MemHandle` holds what the driver gave out, and who
        // made one from another number answered for it there.
        unsafe {
            self.library.mem_export_to_shareable_handle(&raw mut shareable, handle.as_raw(), handle_type.0, flags)
        }?;
        // SAFETY: the driver wrote it just now, for the caller of the export.
        unsafe { shareable_handle(&shareable, handle_type) }
    }

    pub(crate) fn mem_import_from_shareable_handle(
        &self,
        from: OsHandle<'_>,
        handle_type: HandleType,
    ) -> Result<MemHandle> {
        let os_handle = os_handle(from, handle_type)?;
        let mut raw = 0;
        // SAFETY: the call writes one handle. By type it takes the number for a descriptor, which it checks, or follows
        // the pointer to 64 bytes; `os_handle` gives a pointer wherever it would follow one.
        unsafe { self.library.mem_import_from_shareable_handle(&raw mut raw, os_handle, handle_type.0) }?;
        // SAFETY: the driver gave this handle out just now.
        Ok(unsafe { MemHandle::from_raw(raw) })
    }

    pub(crate) fn ipc_get_mem_handle(&self, ptr: DevicePtr) -> Result<IpcMemHandle> {
        let mut handle = [0; 64];
        // SAFETY: `cuIpcGetMemHandle` writes one `CUipcMemHandle`, which is 64 bytes, and checks the address.
        unsafe { self.library.ipc_get_mem_handle(&raw mut handle, ptr.get()) }?;
        Ok(IpcMemHandle(handle))
    }

    pub(crate) fn ipc_open_mem_handle(&self, handle: &IpcMemHandle, flags: u32) -> Result<DevicePtr> {
        let mut address = 0;
        // SAFETY: `cuIpcOpenMemHandle` takes the handle by value, checks it, and writes one address.
        unsafe { self.library.ipc_open_mem_handle(&raw mut address, CuIpcHandle(handle.0), flags) }?;
        Ok(DevicePtr::new(address))
    }

    pub(crate) fn ipc_close_mem_handle(&self, ptr: DevicePtr) -> Result<()> {
        // SAFETY: `cuIpcCloseMemHandle` checks the address.
        unsafe { self.library.ipc_close_mem_handle(ptr.get()) }
    }

    pub(crate) fn ipc_get_event_handle(&self, event: Event) -> Result<IpcEventHandle> {
        let mut handle = [0; 64];
        // SAFETY: `cuIpcGetEventHandle` writes one `CUipcEventHandle`, which is 64 bytes; an `Event` holds what the driver
        // gave out, and who made one from another number answered for it there.
        unsafe { self.library.ipc_get_event_handle(&raw mut handle, event.as_raw()) }?;
        Ok(IpcEventHandle(handle))
    }

    pub(crate) fn ipc_open_event_handle(&self, handle: &IpcEventHandle) -> Result<Event> {
        let mut raw = 0;
        // SAFETY: `cuIpcOpenEventHandle` takes the handle by value, checks it, and writes one event.
        unsafe { self.library.ipc_open_event_handle(&raw mut raw, CuIpcHandle(handle.0)) }?;
        // SAFETY: the driver gave this event out just now.
        Ok(unsafe { Event::from_raw(raw) })
    }
}

/// What an export wrote, by type.
///
/// # Safety
/// The driver wrote it, and nobody has taken it over before.
pub(crate) unsafe fn shareable_handle(written: &AnyValue, handle_type: HandleType) -> Result<ShareableHandle> {
    match handle_type {
        HandleType::FABRIC => Ok(ShareableHandle::Fabric(FabricHandle(written.0))),
        // SAFETY: the driver opened this descriptor for the caller of the export, who owns it from now on.
        HandleType::POSIX_FILE_DESCRIPTOR => unsafe { own(written.first_i32()) }.map(ShareableHandle::PosixFd),
        _ => Err(DriverError::refused(CuResult::NOT_SUPPORTED)),
    }
}

/// What the driver takes as `void *osHandle`: the number of a descriptor, or the address of a fabric handle.
///
/// # Errors
/// `INVALID_VALUE`: a descriptor given as a fabric handle. The driver would follow its number as an address.
/// `NOT_SUPPORTED`: a handle of Windows.
pub(crate) fn os_handle(from: OsHandle<'_>, handle_type: HandleType) -> Result<*const c_void> {
    match from {
        OsHandle::Fabric(handle) => Ok(std::ptr::from_ref(handle).cast()),
        OsHandle::Win32(_) => Err(DriverError::refused(CuResult::NOT_SUPPORTED)),
        OsHandle::Fd(_) | OsHandle::FdNumber(_) if handle_type == HandleType::FABRIC => {
            Err(DriverError::refused(CuResult::INVALID_VALUE))
        }
        // A negative number widens with its sign, as `(void *)(uintptr_t)fd` does in C.
        OsHandle::Fd(_) | OsHandle::FdNumber(_) => {
            Ok(std::ptr::without_provenance(from.fd_number().unwrap_or(-1) as isize as usize))
        }
    }
}

/// Takes a descriptor of the driver over, closed in programs that this process starts.
///
/// The driver has no way to open it so at once: a program started by another thread in between inherits it.
///
/// # Errors
/// `OPERATING_SYSTEM`: it is not open.
///
/// # Safety
/// Nobody else owns the descriptor.
unsafe fn own(fd: RawFd) -> Result<OwnedFd> {
    // SAFETY: `fcntl` with `F_SETFD` takes any number and reports `EBADF` for one that is not open.
    let answer = unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
    if answer == -1 {
        return Err(DriverError::refused(CuResult::OPERATING_SYSTEM));
    }
    // SAFETY: the descriptor is open, as was seen just now, and the caller vouches that nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsRawFd, IntoRawFd};

    use super::*;

    fn null_device() -> RawFd {
        std::fs::File::open("/dev/null").expect("every Linux has /dev/null").into_raw_fd()
    }

    #[test]
    fn an_exported_descriptor_is_closed_on_exec() {
        let fd = null_device();
        // SAFETY: the descriptor is open and stays so.
        assert_eq!(unsafe { libc::fcntl(fd, libc::F_SETFD, 0) }, 0);
        // SAFETY: the file gave its descriptor away.
        let owned = unsafe { own(fd) }.expect("the descriptor is open");
        // SAFETY: the descriptor is open.
        assert_eq!(unsafe { libc::fcntl(owned.as_raw_fd(), libc::F_GETFD) }, libc::FD_CLOEXEC);
    }

    #[test]
    fn a_descriptor_that_the_driver_did_not_write_is_refused() {
        let unwritten = AnyValue::filled(0xFF).first_i32();
        // SAFETY: nobody owns descriptor -1.
        let answer = unsafe { own(unwritten) };
        assert_eq!(answer.map(|_| ()), Err(DriverError::refused(CuResult::OPERATING_SYSTEM)));
    }

    #[test]
    fn descriptors_travel_as_numbers_and_widen_with_their_sign() {
        let address =
            |number| os_handle(OsHandle::FdNumber(number), HandleType::POSIX_FILE_DESCRIPTOR).map(<*const _>::addr);
        assert_eq!(address(7), Ok(7));
        assert_eq!(address(-1), Ok(usize::MAX));
    }

    #[test]
    fn a_fabric_handle_travels_as_the_address_of_its_bytes() {
        let handle = FabricHandle([1; 64]);
        let pointer = os_handle(OsHandle::Fabric(&handle), HandleType::FABRIC).expect("this is what the call takes");
        assert_eq!(pointer, std::ptr::from_ref(&handle.0).cast());
    }

    #[test]
    fn the_driver_never_follows_a_descriptor_as_an_address() {
        let answer = os_handle(OsHandle::FdNumber(7), HandleType::FABRIC);
        assert_eq!(answer, Err(DriverError::refused(CuResult::INVALID_VALUE)));
    }
}
