//! The life of one allocation: each call by itself.

use std::os::fd::AsFd;

use peermap_driver::{AccessDesc, AllocationProp, ByteSize, DevicePtr, Driver, HandleType, OsHandle};

use crate::clock::timed;
use crate::error::BenchError;
use crate::owned::{Physical, Reserved};
use crate::rig::Rig;
use crate::suite::{Group, Output, Planned};

const FULL: [ByteSize; 5] =
    [ByteSize::mib(2), ByteSize::mib(16), ByteSize::mib(64), ByteSize::mib(256), ByteSize::mib(1024)];
const QUICK: [ByteSize; 3] = [ByteSize::mib(2), ByteSize::mib(64), ByteSize::mib(1024)];

const CALLS: [&str; 9] = [
    "cuMemCreate",
    "cuMemAddressReserve",
    "cuMemMap",
    "cuMemSetAccess",
    "cuMemExportToShareableHandle",
    "cuMemImportFromShareableHandle",
    "cuMemUnmap",
    "cuMemAddressFree",
    "cuMemRelease",
];

pub(super) fn plan<'r>(rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
    let mut planned = Vec::new();
    for size in rig.sizes(&FULL, &QUICK) {
        planned.push(group(rig, size, "own", 0));
        if let Some(peer) = rig.peer() {
            planned.push(group(rig, size, "peer", peer));
        }
    }
    planned
}

/// Memory of the first device, with rights for a device that is it or reaches it.
fn group<'r>(rig: &'r Rig<'_>, size: ByteSize, memory: &str, granted: usize) -> Planned<'r> {
    Planned {
        outputs: CALLS.map(Output::time).to_vec(),
        parameters: vec![("memory", memory.to_owned()), ("size", size.to_string())],
        make: Box::new(move || {
            let desc = AccessDesc::read_write(rig.devices[granted].0.0);
            Ok(Box::new(Lifecycle { driver: rig.driver, prop: rig.memory_of(0), size, desc }))
        }),
    }
}

struct Lifecycle<'d> {
    driver: &'d dyn Driver,
    prop: AllocationProp,
    size: ByteSize,
    desc: AccessDesc,
}

impl Group for Lifecycle<'_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let Self { driver, prop, size, desc } = *self;
        let kind = HandleType::POSIX_FILE_DESCRIPTOR;
        let (handle, create) = timed(|| driver.mem_create(size, &prop, 0))?;
        let physical = Physical::of(driver, handle, size);
        let (ptr, reserve) = timed(|| driver.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0))?;
        let range = Reserved::of(driver, ptr, size);
        let ((), map) = timed(|| driver.mem_map(ptr, size, ByteSize::ZERO, handle, 0))?;
        let ((), set_access) = timed(|| driver.mem_set_access(ptr, size, &[desc]))?;
        let (exported, export) = timed(|| driver.mem_export_to_shareable_handle(handle, kind, 0))?;
        let Some(descriptor) = exported.into_posix_fd() else {
            return Err(BenchError::NotHere("the export is no descriptor".to_owned()));
        };
        let from = OsHandle::Fd(descriptor.as_fd());
        let (imported, import) = timed(|| driver.mem_import_from_shareable_handle(from, kind))?;
        drop(Physical::of(driver, imported, size));
        let ((), unmap) = timed(|| driver.mem_unmap(ptr, size))?;
        let ((), free) = timed(|| driver.mem_address_free(ptr, size))?;
        range.was_freed();
        drop(descriptor);
        let ((), release) = timed(|| driver.mem_release(handle))?;
        physical.was_released();
        Ok(vec![create, reserve, map, set_access, export, import, unmap, free, release])
    }
}
