//! Ten thousand shares, from creation to the last release in the other process, leave nothing behind.
//!
//! One test in a binary of its own, because it counts the open files and the address space of the OS process.

use std::fs;
use std::os::fd::AsFd;

use peermap_driver::{AccessDesc, AllocationProp, ByteSize, Device, DevicePtr, Driver, HandleType, MemHandle};
use peermap_ipc::limits::open_descriptors;
use peermap_sim::{SimMachine, SimProcess};

const GRANULE: ByteSize = ByteSize::mib(2);

/// Maps a handle at a new place and lets device 0 read and write it.
fn map(driver: &dyn Driver, handle: MemHandle) -> DevicePtr {
    let ptr = driver.mem_address_reserve(GRANULE, ByteSize::ZERO, DevicePtr::NULL, 0).unwrap();
    driver.mem_map(ptr, GRANULE, ByteSize::ZERO, handle, 0).unwrap();
    driver.mem_set_access(ptr, GRANULE, &[AccessDesc::read_write(0)]).unwrap();
    ptr
}

fn unmap(driver: &dyn Driver, ptr: DevicePtr) {
    driver.mem_unmap(ptr, GRANULE).unwrap();
    driver.mem_address_free(ptr, GRANULE).unwrap();
}

/// Shares memory of the first process with the second: both write it, the first lets go while the second has it.
fn share(exporter: &SimProcess, importer: &SimProcess, round: u32) {
    let byte = (round % 251) as u8;
    let prop = AllocationProp::pinned_on(0, HandleType::POSIX_FILE_DESCRIPTOR);
    let handle = exporter.mem_create(GRANULE, &prop, 0).unwrap();
    let ptr = map(exporter, handle);
    exporter.memset_d8(ptr, byte, ByteSize::kib(4)).unwrap();
    exporter.ctx_synchronize().unwrap();
    let exported = exporter.mem_export_to_shareable_handle(handle, HandleType::POSIX_FILE_DESCRIPTOR, 0).unwrap();
    let fd = exported.into_posix_fd().unwrap();
    let imported =
        importer.mem_import_from_shareable_handle(fd.as_fd().into(), HandleType::POSIX_FILE_DESCRIPTOR).unwrap();
    drop(fd);
    exporter.mem_release(handle).unwrap();
    unmap(exporter, ptr);
    let there = map(importer, imported);
    importer.mem_release(imported).unwrap();
    let mut seen = [0];
    importer.memcpy_dtoh(&mut seen, there).unwrap();
    assert_eq!(seen[0], byte);
    unmap(importer, there);
}

/// What the OS process takes: open files, and pages of address space.
fn taken() -> (usize, u64) {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    (open_descriptors().unwrap(), statm.split(' ').next().unwrap().parse().unwrap())
}

#[test]
fn ten_thousand_shares_leave_nothing() {
    let machine = SimMachine::named("default").unwrap();
    let [exporter, importer] = [(); 2].map(|()| machine.process().unwrap());
    for process in [&exporter, &importer] {
        process.init(0).unwrap();
        process.ctx_create(0, Device(0)).unwrap();
    }
    (0..100).for_each(|round| share(&exporter, &importer, round));
    let free = exporter.mem_get_info().unwrap().free;
    let (files, pages) = taken();
    (0..10_000).for_each(|round| share(&exporter, &importer, round));
    let (files_after, pages_after) = taken();
    assert_eq!(files_after, files);
    // What the process remembers of calls grows by a few bytes a share; a mapping or a buffer that stays takes far more.
    assert!(pages_after - pages < 256, "{} pages stay", pages_after - pages);
    assert_eq!(exporter.mem_get_info().unwrap().free, free);
    assert_eq!(machine.host_memory_used(), ByteSize::ZERO);
    assert!(machine.holders().unwrap().0.is_empty());
}
