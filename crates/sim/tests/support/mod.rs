//! What the tests of the simulated driver share.

use std::fmt::Debug;
use std::os::fd::OwnedFd;

use peermap_driver::{
    AccessDesc, AllocationProp, ByteSize, CuResult, Device, DevicePtr, Driver, DriverError, HandleType, MemHandle,
};
use peermap_model::{Grace, Policy, Profile};
use peermap_sim::{MachineOptions, SimMachine, SimProcess};

/// The granularity of the measured machine.
pub const GRANULE: ByteSize = ByteSize::mib(2);

/// Two devices as measured; work runs only when something waits for it.
pub fn machine() -> SimMachine {
    machine_with(Policy::Measured, Grace::Never)
}

/// Two devices with a policy and a grace.
pub fn machine_with(policy: Policy, grace: Grace) -> SimMachine {
    SimMachine::new(Profile::named("h200-x2").unwrap(), MachineOptions { policy, grace, host_memory: None }).unwrap()
}

/// A process that has called `cuInit`.
pub fn process(machine: &SimMachine) -> SimProcess {
    let process = machine.process().unwrap();
    process.init(0).unwrap();
    process
}

/// A process with a context of device 0 current on this thread.
pub fn in_context(machine: &SimMachine) -> SimProcess {
    let process = process(machine);
    process.ctx_create(0, Device(0)).unwrap();
    process
}

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
    use std::os::fd::AsFd;
    driver.mem_import_from_shareable_handle(descriptor.as_fd().into(), HandleType::POSIX_FILE_DESCRIPTOR)
}

/// The first `len` bytes at an address.
pub fn read(driver: &dyn Driver, ptr: DevicePtr, len: usize) -> Vec<u8> {
    let mut bytes = vec![0xEE; len];
    driver.memcpy_dtoh(&mut bytes, ptr).unwrap();
    bytes
}

/// An address further on.
pub fn offset(ptr: DevicePtr, bytes: u64) -> DevicePtr {
    ptr.checked_add(ByteSize::new(bytes)).unwrap()
}

/// Which rule refused a call, and with which code; no code where the real driver would crash.
pub fn refusal<T: Debug>(answer: Result<T, DriverError>) -> (&'static str, Option<CuResult>) {
    let error = answer.unwrap_err();
    let rule = error.rule().unwrap_or_else(|| panic!("no rule in {error}"));
    (rule.0, error.result())
}

/// Which rule refused a call.
pub fn rule<T: Debug>(answer: Result<T, DriverError>) -> &'static str {
    refusal(answer).0
}

/// Memory of a machine that anybody holds.
pub fn held_bytes(machine: &SimMachine) -> u64 {
    machine.holders().unwrap().0.iter().map(|line| line.size.get()).sum()
}
