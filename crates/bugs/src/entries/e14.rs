//! E14: addresses ran out while memory was free, because each import reserved for the worst case.
//!
//! Addresses are a budget of their own. Once they are used up a reservation says that it is out of memory while the device has as
//! much as before; reservations that are given back can be had again; and whoever reserves what is mapped imports on.

use std::os::fd::AsFd;

use peermap_driver::{ByteSize, DevicePtr, DriverError, HandleType, MemHandle, OsHandle};
use peermap_model::rules;

use crate::expect::{holds, refused, same};
use crate::process::{Process, times};
use crate::stage::Stage;
use crate::trouble::Trouble;

/// What one import reserves, whatever it maps.
const WORST_CASE: ByteSize = ByteSize::gib(90);

/// More than any address space has room for.
const MOST_IMPORTS: usize = 8192;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let process = stage.machine()?.process()?;
    process.context(0)?;
    let granule = process.granule()?;
    let made = process.create(granule)?;
    let descriptor = process
        .mem_export_to_shareable_handle(made, HandleType::POSIX_FILE_DESCRIPTOR, 0)?
        .into_posix_fd()
        .ok_or_else(|| Trouble::not_here("the export gave no descriptor"))?;
    let import = || {
        let from = OsHandle::from(descriptor.as_fd());
        process.mem_import_from_shareable_handle(from, HandleType::POSIX_FILE_DESCRIPTOR)
    };
    let before = process.free_memory()?;
    let mut imported = Vec::new();
    let refusal = loop {
        let handle = import()?;
        match process.reserve(WORST_CASE) {
            Ok(ptr) if imported.len() < MOST_IMPORTS => {
                process.map(ptr, granule, handle)?;
                imported.push((handle, ptr));
            }
            answer => {
                process.mem_release(handle)?;
                break answer;
            }
        }
    };
    refused("cuMemAddressReserve without addresses left", refusal, &rules::RESERVE_5)?;
    // On hardware the tables of so many mappings take some memory of the device.
    let free = process.free_memory()?;
    holds("most memory is free when addresses are used up", free.get() > before.get() / 2, (free, before))?;
    holds("several imports fit", imported.len() > 8, imported.len())?;
    let freed = stage.random().usize(0..imported.len());
    let (handle, ptr) = imported.swap_remove(freed);
    give_up(&process, handle, ptr, granule)?;
    // In the place of one worst case many imports fit that reserve what they map.
    for _ in 0..64 {
        let exact = process.mapped_of(import()?, granule)?;
        imported_exactly(&process, exact.ptr, granule)?;
        process.give_back(exact)?;
    }
    for (handle, ptr) in imported {
        give_up(&process, handle, ptr, granule)?;
    }
    Ok(process.mem_release(made)?)
}

fn give_up(process: &Process, handle: MemHandle, ptr: DevicePtr, granule: ByteSize) -> Result<(), DriverError> {
    process.mem_unmap(ptr, granule)?;
    process.mem_release(handle)?;
    process.mem_address_free(ptr, WORST_CASE)
}

fn imported_exactly(process: &Process, ptr: DevicePtr, granule: ByteSize) -> Result<(), Trouble> {
    same("the range of an import", process.mem_get_address_range(ptr)?, (ptr, times(granule, 1)))
}
