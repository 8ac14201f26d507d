//! Export and import inside one process, and legacy handles.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use peermap_driver::{
    AllocationProp, CuResult, Driver, DriverError, HandleType, MemHandle, OsHandle, Result, ShareableHandle,
};

use crate::rig::{Allocated, Current, DEVICE, GRANULE, Held, Mapped, SHAREABLE, at, driver, holds, refused};

const FD: HandleType = HandleType::POSIX_FILE_DESCRIPTOR;

fn exported(handle: MemHandle) -> OwnedFd {
    let shareable = driver().mem_export_to_shareable_handle(handle, FD, 0).expect("an export");
    shareable.into_posix_fd().expect("a descriptor, as was asked for")
}

fn imported(fd: &OwnedFd) -> Held {
    Held(driver().mem_import_from_shareable_handle(fd.as_fd().into(), FD).expect("an import"))
}

fn export_error(answer: Result<ShareableHandle>) -> Option<DriverError> {
    answer.err()
}

/// Trace share, import-same-process.
pub fn an_imported_handle_sees_the_same_bytes() {
    let _context = Current::new();
    let handle = Held::new(GRANULE);
    let fd = exported(handle.0);
    let import = imported(&fd);
    let again = imported(&fd);
    assert_ne!(import.0, again.0, "each import gives a new handle");
    let kept = AllocationProp { requested_handle_types: HandleType::NONE, ..SHAREABLE };
    assert_eq!(driver().mem_get_allocation_properties_from_handle(import.0), Ok(kept));
    let reexport = driver().mem_export_to_shareable_handle(import.0, FD, 0);
    assert_eq!(export_error(reexport), Some(DriverError::refused(CuResult::INVALID_VALUE)));

    let there = Mapped::of(import, GRANULE);
    let here = Mapped::of(handle, GRANULE);
    assert_eq!(driver().memset_d8(here.ptr, 3, GRANULE), Ok(()));
    assert_eq!(driver().ctx_synchronize(), Ok(()));
    assert!(holds(there.ptr, GRANULE, 3));
}

/// Trace share, exporter-releases-before-import.
pub fn a_descriptor_alone_keeps_the_memory() {
    let _context = Current::new();
    let handle = Held::new(GRANULE);
    let fd = exported(handle.0);
    let first = Mapped::of(handle, GRANULE);
    assert_eq!(driver().memset_d8(first.ptr, 77, GRANULE), Ok(()));
    assert_eq!(driver().ctx_synchronize(), Ok(()));
    drop(first);
    let second = Mapped::of(imported(&fd), GRANULE);
    assert!(holds(second.ptr, GRANULE, 77));
}

/// From creation to the last release of what was imported.
pub fn ten_thousand_shares_leave_nothing() {
    let _context = Current::new();
    let share = || {
        let handle = Held::new(GRANULE);
        let fd = exported(handle.0);
        let import = imported(&fd);
        drop(handle);
        drop(fd);
        let there = Mapped::of(import, GRANULE);
        assert_eq!(driver().memset_d8(there.ptr, 1, GRANULE), Ok(()));
        assert_eq!(driver().ctx_synchronize(), Ok(()));
    };
    let taken = || {
        let files = std::fs::read_dir("/proc/self/fd").map(Iterator::count).ok();
        (files, driver().mem_get_info().map(|info| info.free))
    };
    (0..100).for_each(|_| share());
    let before = taken();
    (0..10_000).for_each(|_| share());
    assert_eq!(taken(), before);
}

pub fn an_exported_descriptor_is_closed_on_exec() {
    let handle = Held::new(GRANULE);
    let fd = exported(handle.0);
    // SAFETY: `fcntl` with `F_GETFD` reads the flags of an open descriptor.
    assert_eq!(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFD) }, libc::FD_CLOEXEC);
}

/// Trace share, export-args.
pub fn exports_that_the_driver_refuses() {
    let shareable = Held::new(GRANULE);
    let private = AllocationProp::pinned_on(DEVICE.0, HandleType::NONE);
    let private = Held(driver().mem_create(GRANULE, &private, 0).expect("memory"));
    for (handle, handle_type, flags) in [
        (shareable.0, FD, 1),
        (shareable.0, HandleType::FABRIC, 0),
        (shareable.0, HandleType::WIN32, 0),
        (private.0, FD, 0),
    ] {
        let answer = driver().mem_export_to_shareable_handle(handle, handle_type, flags);
        assert_eq!(export_error(answer), Some(DriverError::refused(CuResult::INVALID_VALUE)), "{handle_type}");
    }
}

/// Trace share, import-args.
pub fn imports_that_the_driver_refuses() {
    let handle = Held::new(GRANULE);
    let fd = exported(handle.0);
    for (from, handle_type, code) in [
        (OsHandle::FdNumber(-1), FD, CuResult::UNKNOWN),
        (OsHandle::FdNumber(9999), FD, CuResult::UNKNOWN),
        (OsHandle::FdNumber(0), FD, CuResult::INVALID_VALUE),
        (OsHandle::Fd(fd.as_fd()), HandleType::WIN32, CuResult::NOT_SUPPORTED),
        (OsHandle::Fd(fd.as_fd()), HandleType::NONE, CuResult::INVALID_VALUE),
    ] {
        let answer = driver().mem_import_from_shareable_handle(from, handle_type);
        assert_eq!(answer, refused(code), "{from:?} as {handle_type}");
    }
}

/// Trace legacy, ipc-mem-args and ipc-interior; trace vmm, malloc-on-vmm-calls.
pub fn legacy_handles_are_for_allocated_memory_only() {
    let _context = Current::new();
    let allocated = Allocated::new(GRANULE);
    let mapped = Mapped::new(GRANULE);
    let handle = driver().ipc_get_mem_handle(allocated.0).expect("a legacy handle");
    assert_ne!(handle.0, [0; 64]);
    assert!(driver().ipc_get_mem_handle(at(allocated.0, 4096)).is_ok(), "an address inside exports the whole");
    assert_eq!(driver().ipc_get_mem_handle(mapped.ptr), refused(CuResult::INVALID_VALUE));
    assert_eq!(driver().ipc_get_mem_handle(peermap_driver::DevicePtr::NULL), refused(CuResult::INVALID_VALUE));
}
