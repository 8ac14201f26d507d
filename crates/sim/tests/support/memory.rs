//! Memory in a few words.

use std::os::fd::{AsFd, OwnedFd};

use peermap_driver::{AccessDesc, AllocationProp, ByteSize, DevicePtr, Driver, DriverError, HandleType, MemHandle};

/// The granularity of the measured machine.
pub const GRANULE: ByteSize = ByteSize::mib(2);

/// Memory of a device that can be shared by descriptor.
pub fn create(driver: &dyn Driver, device: i32, size: ByteSize) -> MemHandle {
    let prop = AllocationProp::pinned_on(device, HandleType::POSIX_FILE_DESCRIPTOR);
    driver.mem_create(size, &prop, 0).unwrap()
}

/// Addresses of a size.
pub fn reserve(driver: &dyn Driver, size: ByteSize) -> DevicePtr {
    driver.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0).unwrap()
}

/// Maps a handle at a new place and lets device 0 read and write it.
pub fn map(driver: &dyn Driver, handle: MemHandle, size: ByteSize) -> DevicePtr {
    let ptr = reserve(driver, size);
    driver.mem_map(ptr, size, ByteSize::ZERO, handle, 0).unwrap();
    driver.mem_set_access(ptr, size, &[AccessDesc::read_write(0)]).unwrap();
    ptr
}

/// New memory of device 0 that device 0 reads and writes.
pub fn mapped(driver: &dyn Driver, size: ByteSize) -> (MemHandle, DevicePtr) {
    let handle = create(driver, 0, size);
    (handle, map(driver, handle, size))
}

/// A descriptor of a handle.
pub fn export(driver: &dyn Driver, handle: MemHandle) -> OwnedFd {
    let exported = driver.mem_export_to_shareable_handle(handle, HandleType::POSIX_FILE_DESCRIPTOR, 0);
    exported.unwrap().into_posix_fd().unwrap()
}

/// A handle of a descriptor.
pub fn import(driver: &dyn Driver, descriptor: &OwnedFd) -> Result<MemHandle, DriverError> {
    driver.mem_import_from_shareable_handle(descriptor.as_fd().into(), HandleType::POSIX_FILE_DESCRIPTOR)
}

/// The first `len` bytes at an address.
pub fn read(driver: &dyn Driver, ptr: DevicePtr, len: usize) -> Vec<u8> {
    let mut bytes = vec![0xEE; len];
    driver.memcpy_dtoh(&mut bytes, ptr).unwrap();
    bytes
}
