//! The orders in which a sharer of memory can take things down, right and wrong, with the measured answers.

use peermap_driver::{AccessDesc, ByteSize, CuResult, Device, Driver, DriverError, HandleType, OsHandle};

use crate::support::{
    GRANULE, create, export, held_bytes, import, in_context, machine, map, mapped, read, refusal, reserve,
};

const INVALID: Option<CuResult> = Some(CuResult::INVALID_VALUE);

#[test]
fn the_right_order_leaves_nothing() {
    let machine = machine();
    let process = in_context(&machine);
    let (handle, ptr) = mapped(&process, GRANULE);
    process.mem_unmap(ptr, GRANULE).unwrap();
    process.mem_release(handle).unwrap();
    process.mem_address_free(ptr, GRANULE).unwrap();
    process.ctx_destroy(process.ctx_get_current().unwrap().unwrap()).unwrap();
    assert_eq!(held_bytes(&machine), 0);
}

#[test]
fn release_before_unmap_is_fine() {
    let machine = machine();
    let process = in_context(&machine);
    let (handle, ptr) = mapped(&process, GRANULE);
    process.mem_release(handle).unwrap();
    process.memset_d8(ptr, 3, GRANULE).unwrap();
    assert_eq!(read(&process, ptr, 1), [3]);
    assert_eq!(held_bytes(&machine), GRANULE.get(), "the mapping keeps it");
    process.mem_unmap(ptr, GRANULE).unwrap();
    assert_eq!(held_bytes(&machine), 0);
}

#[test]
fn release_after_unmap_is_fine() {
    let machine = machine();
    let process = in_context(&machine);
    let (handle, ptr) = mapped(&process, GRANULE);
    process.mem_unmap(ptr, GRANULE).unwrap();
    assert_eq!(held_bytes(&machine), GRANULE.get(), "the handle keeps it");
    process.mem_release(handle).unwrap();
    assert_eq!(held_bytes(&machine), 0);
}

#[test]
fn a_second_release_is_refused() {
    let process = in_context(&machine());
    let (handle, ptr) = mapped(&process, GRANULE);
    process.mem_release(handle).unwrap();
    assert_eq!(refusal(process.mem_release(handle)), ("RELEASE-1", INVALID), "while it is mapped");
    process.mem_unmap(ptr, GRANULE).unwrap();
    assert_eq!(refusal(process.mem_release(handle)), ("RELEASE-1", INVALID), "and after that");
}

#[test]
fn addresses_cannot_be_freed_before_the_unmap() {
    let process = in_context(&machine());
    let (_, ptr) = mapped(&process, GRANULE);
    assert_eq!(refusal(process.mem_address_free(ptr, GRANULE)), ("FREE-2", INVALID));
    assert_eq!(read(&process, ptr, 1), [0], "the mapping is untouched");
    process.mem_unmap(ptr, GRANULE).unwrap();
    process.mem_address_free(ptr, GRANULE).unwrap();
    assert_eq!(refusal(process.mem_address_free(ptr, GRANULE)), ("FREE-1", INVALID), "and only once");
}

#[test]
fn a_second_unmap_is_fine_until_the_addresses_are_freed() {
    let process = in_context(&machine());
    let (_, ptr) = mapped(&process, GRANULE);
    process.mem_unmap(ptr, GRANULE).unwrap();
    assert_eq!(process.mem_unmap(ptr, GRANULE), Ok(()));
    process.mem_address_free(ptr, GRANULE).unwrap();
    assert_eq!(refusal(process.mem_unmap(ptr, GRANULE)), ("UNMAP-2", INVALID));
}

#[test]
fn the_context_may_go_before_the_unmap() {
    let machine = machine();
    let process = in_context(&machine);
    let (handle, ptr) = mapped(&process, GRANULE);
    process.ctx_destroy(process.ctx_get_current().unwrap().unwrap()).unwrap();
    process.mem_unmap(ptr, GRANULE).unwrap();
    process.mem_address_free(ptr, GRANULE).unwrap();
    process.mem_release(handle).unwrap();
    assert_eq!(held_bytes(&machine), 0);
}

#[test]
fn access_cannot_be_set_before_the_map() {
    let process = in_context(&machine());
    let handle = create(&process, 0, GRANULE);
    let ptr = reserve(&process, GRANULE);
    let desc = [AccessDesc::read_write(0)];
    assert_eq!(refusal(process.mem_set_access(ptr, GRANULE, &desc)), ("ACCESS-4", INVALID));
    process.mem_map(ptr, GRANULE, ByteSize::ZERO, handle, 0).unwrap();
    assert_eq!(refusal(process.memset_d8(ptr, 1, GRANULE)), ("COPY-1", INVALID), "mapped is not accessible");
    process.mem_set_access(ptr, GRANULE, &desc).unwrap();
    process.mem_unmap(ptr, GRANULE).unwrap();
    process.mem_map(ptr, GRANULE, ByteSize::ZERO, handle, 0).unwrap();
    assert_eq!(refusal(process.memset_d8(ptr, 1, GRANULE)), ("COPY-1", INVALID), "rights end with their mapping");
}

#[test]
fn a_descriptor_that_was_closed_before_the_import_is_unknown() {
    let process = in_context(&machine());
    let number = std::os::fd::AsRawFd::as_raw_fd(&export(&process, create(&process, 0, GRANULE)));
    let answer =
        process.mem_import_from_shareable_handle(OsHandle::FdNumber(number), HandleType::POSIX_FILE_DESCRIPTOR);
    assert_eq!(refusal(answer), ("IMPORT-4", Some(CuResult::UNKNOWN)));
}

#[test]
fn an_export_after_the_release_would_crash() {
    let process = in_context(&machine());
    let handle = create(&process, 0, GRANULE);
    process.mem_release(handle).unwrap();
    let answer = process.mem_export_to_shareable_handle(handle, HandleType::POSIX_FILE_DESCRIPTOR, 0);
    assert!(matches!(answer, Err(DriverError::WouldCrash { .. })));
    let ptr = reserve(&process, GRANULE);
    assert_eq!(refusal(process.mem_map(ptr, GRANULE, ByteSize::ZERO, handle, 0)), ("HANDLE-1", None));
    assert_eq!(refusal(process.mem_get_allocation_properties_from_handle(handle)), ("HANDLE-1", None));
}

#[test]
fn an_import_works_after_the_exporter_released_or_ended() {
    let machine = machine();
    let (released, ended, importer) = (in_context(&machine), in_context(&machine), in_context(&machine));
    let handle = create(&released, 0, GRANULE);
    let first = export(&released, handle);
    released.mem_release(handle).unwrap();
    let second = export(&ended, create(&ended, 0, GRANULE));
    drop(ended);
    for descriptor in [first, second] {
        let imported = import(&importer, &descriptor).unwrap();
        drop(descriptor);
        assert_eq!(read(&importer, map(&importer, imported, GRANULE), 1), [0]);
    }
    drop(importer);
    assert_eq!(held_bytes(&machine), 0);
}

#[test]
fn the_exporter_may_unmap_while_the_importer_reads() {
    let machine = machine();
    let (exporter, importer) = (in_context(&machine), in_context(&machine));
    let (handle, ptr) = mapped(&exporter, GRANULE);
    let seen = map(&importer, import(&importer, &export(&exporter, handle)).unwrap(), GRANULE);
    exporter.memset_d8(ptr, 8, GRANULE).unwrap();
    exporter.ctx_synchronize().unwrap();
    exporter.mem_unmap(ptr, GRANULE).unwrap();
    exporter.mem_release(handle).unwrap();
    assert_eq!(read(&importer, seen, 2), [8, 8]);
}

#[test]
fn a_process_that_just_ends_leaves_nothing() {
    let machine = machine();
    let process = in_context(&machine);
    mapped(&process, GRANULE);
    create(&process, 1, ByteSize::mib(8));
    process.mem_alloc(ByteSize::new(100)).unwrap();
    process.memset_d8(mapped(&process, GRANULE).1, 1, GRANULE).unwrap();
    process.ctx_synchronize().unwrap();
    process.thread(5).ctx_create(0, Device(1)).unwrap();
    assert_eq!(held_bytes(&machine), (2 + 8 + 2 + 2) << 20);
    drop(process);
    assert_eq!(machine.holders().unwrap().0, []);
    assert_eq!(machine.host_memory_used(), ByteSize::ZERO);
}
