//! Exported descriptors: what can be imported, and what keeps memory.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use peermap_driver::{ByteSize, CuResult, Driver, DriverError, HandleType, MemHandle, OsHandle};
use peermap_ipc::{Channel, Deadline};
use peermap_sim::SimProcess;

use crate::support::{
    GRANULE, create, export, held_bytes, import, in_context, machine, map, mapped, process, read, refusal,
};

const POSIX: HandleType = HandleType::POSIX_FILE_DESCRIPTOR;

fn import_number(process: &SimProcess, number: i32) -> Result<MemHandle, DriverError> {
    process.mem_import_from_shareable_handle(OsHandle::FdNumber(number), POSIX)
}

#[test]
fn what_is_no_export_is_refused() {
    let machine = machine();
    let process = process(&machine);
    let unknown = ("IMPORT-4", Some(CuResult::UNKNOWN));
    let (reader, writer) = std::io::pipe().unwrap();
    let (socket, _peer) = UnixStream::pair().unwrap();
    let null: OwnedFd = File::open("/dev/null").unwrap().into();
    for foreign in [reader.into(), writer.into(), socket.into(), null] {
        assert_eq!(refusal(import(&process, &foreign)), unknown);
    }
    for number in [1_000_000, -1] {
        assert_eq!(refusal(import_number(&process, number)), unknown);
    }
    assert_eq!(refusal(import_number(&process, 0)), ("IMPORT-1", Some(CuResult::INVALID_VALUE)));
    assert_eq!(held_bytes(&machine), 0);
}

#[test]
fn the_number_of_an_open_export_is_as_good_as_the_descriptor() {
    let machine = machine();
    let process = process(&machine);
    let handle = create(&process, 0, GRANULE);
    let descriptor = export(&process, handle);
    let imported = import_number(&process, descriptor.as_raw_fd()).unwrap();
    process.mem_release(handle).unwrap();
    drop(descriptor);
    assert_eq!(held_bytes(&machine), GRANULE.get());
    process.mem_release(imported).unwrap();
    assert_eq!(held_bytes(&machine), 0, "the import keeps no descriptor");
}

#[test]
fn the_number_of_what_is_no_export_is_refused_without_blocking() {
    let process = process(&machine());
    let (reader, writer) = std::io::pipe().unwrap();
    let (socket, _peer) = UnixStream::pair().unwrap();
    for number in [reader.as_raw_fd(), writer.as_raw_fd(), socket.as_raw_fd()] {
        assert_eq!(refusal(import_number(&process, number)), ("IMPORT-4", Some(CuResult::UNKNOWN)));
    }
}

#[test]
fn an_export_of_another_machine_is_refused() {
    let (ours, theirs) = (process(&machine()), process(&machine()));
    let foreign = export(&theirs, create(&theirs, 0, GRANULE));
    assert_eq!(refusal(import(&ours, &foreign)), ("IMPORT-4", Some(CuResult::UNKNOWN)));
}

#[test]
fn handle_types_are_checked_before_the_descriptor() {
    let process = process(&machine());
    let descriptor = export(&process, create(&process, 0, GRANULE));
    let import_as = |kind| process.mem_import_from_shareable_handle(descriptor.as_fd().into(), kind);
    assert_eq!(refusal(import_as(HandleType::NONE)), ("IMPORT-2", Some(CuResult::INVALID_VALUE)));
    assert_eq!(refusal(import_as(HandleType::WIN32)), ("IMPORT-3", Some(CuResult::NOT_SUPPORTED)));
    assert!(import_as(POSIX).is_ok());
}

#[test]
fn each_import_is_a_new_handle_and_none_can_be_exported() {
    let process = process(&machine());
    let handle = create(&process, 0, GRANULE);
    let descriptor = export(&process, handle);
    let [one, two] = [0; 2].map(|_| import(&process, &descriptor).unwrap());
    assert!(one != two && one != handle && two != handle);
    assert_eq!(refusal(process.mem_export_to_shareable_handle(one, POSIX, 0)).0, "EXPORT-3");
    let prop = process.mem_get_allocation_properties_from_handle(one).unwrap();
    assert_eq!(prop.requested_handle_types, HandleType::NONE);
}

#[test]
fn a_retained_handle_can_be_exported_after_the_first_reference_is_gone() {
    let machine = machine();
    let process = in_context(&machine);
    let (handle, ptr) = mapped(&process, GRANULE);
    process.mem_release(handle).unwrap();
    let crash = process.mem_export_to_shareable_handle(handle, POSIX, 0).unwrap_err();
    assert!(matches!(crash, DriverError::WouldCrash { .. }));
    let retained = process.mem_retain_allocation_handle(ptr).unwrap();
    assert_eq!(retained, handle);
    let descriptor = export(&process, retained);
    process.mem_release(retained).unwrap();
    assert!(import(&process, &descriptor).is_ok());
}

#[test]
fn any_copy_of_a_descriptor_keeps_the_memory_and_its_bytes() {
    let machine = machine();
    let exporter = in_context(&machine);
    let (handle, ptr) = mapped(&exporter, GRANULE);
    exporter.memset_d8(ptr, 9, GRANULE).unwrap();
    exporter.ctx_synchronize().unwrap();
    let descriptor = export(&exporter, handle);
    let copy = descriptor.try_clone().unwrap();
    drop(exporter);
    drop(descriptor);
    assert_eq!(held_bytes(&machine), GRANULE.get());
    let importer = in_context(&machine);
    let imported = import(&importer, &copy).unwrap();
    assert_eq!(read(&importer, map(&importer, imported, GRANULE), 2), [9, 9]);
    drop(copy);
    assert_eq!(held_bytes(&machine), GRANULE.get(), "the importer holds it now");
    drop(importer);
    assert_eq!(held_bytes(&machine), 0);
}

#[test]
fn the_last_copy_frees_the_memory_exactly() {
    let machine = machine();
    let process = in_context(&machine);
    let free = || process.mem_get_info().unwrap().free.get();
    let before = free();
    let handle = create(&process, 0, ByteSize::mib(6));
    let first = export(&process, handle);
    let second = export(&process, handle);
    process.mem_release(handle).unwrap();
    assert_eq!(before - free(), 6 << 20);
    assert_eq!(machine.holders().unwrap().0[0].descriptors.len(), 2);
    drop(first);
    assert_eq!(before - free(), 6 << 20);
    drop(second);
    assert_eq!(free(), before);
}

#[test]
fn a_descriptor_in_a_socket_buffer_keeps_the_memory() {
    let machine = machine();
    let exporter = process(&machine);
    let descriptor = export(&exporter, create(&exporter, 0, GRANULE));
    let (ours, theirs) = Channel::pair().unwrap();
    ours.send(b"memory", &[descriptor.as_fd()], Deadline::NEVER).unwrap();
    drop((descriptor, exporter));
    assert_eq!(held_bytes(&machine), GRANULE.get());
    let received = theirs.recv(1, Deadline::NEVER).unwrap().fds.pop().unwrap();
    let importer = process(&machine);
    import(&importer, &received).unwrap();
    drop((received, importer));
    assert_eq!(held_bytes(&machine), 0);
    let exporter = process(&machine);
    let descriptor = export(&exporter, create(&exporter, 0, GRANULE));
    ours.send(b"memory", &[descriptor.as_fd()], Deadline::NEVER).unwrap();
    drop((descriptor, exporter));
    assert_eq!(held_bytes(&machine), GRANULE.get());
    drop((ours, theirs));
    assert_eq!(held_bytes(&machine), 0, "nobody can receive it any more");
}

#[test]
fn a_thousand_exports_are_a_thousand_exports() {
    let machine = machine();
    let process = process(&machine);
    let handle = create(&process, 0, GRANULE);
    for _ in 0..20 {
        let descriptors: Vec<_> = (0..50).map(|_| export(&process, handle)).collect();
        assert_eq!(machine.holders().unwrap().0[0].descriptors.len(), 50);
        assert!(descriptors.iter().all(|descriptor| import(&process, descriptor).is_ok()));
    }
    assert_eq!(machine.holders().unwrap().0[0].descriptors, []);
}

#[test]
fn fresh_memory_reads_as_zero_wherever_it_lies() {
    let machine = machine();
    let process = in_context(&machine);
    for value in 1..20 {
        let (handle, ptr) = mapped(&process, GRANULE);
        assert_eq!(read(&process, ptr, 4096), [0; 4096]);
        process.memset_d8(ptr, value, GRANULE).unwrap();
        process.ctx_synchronize().unwrap();
        process.mem_unmap(ptr, GRANULE).unwrap();
        process.mem_release(handle).unwrap();
    }
    assert_eq!(machine.host_memory_used(), ByteSize::ZERO);
}
