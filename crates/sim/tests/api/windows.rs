//! NT handles of a simulated Windows, and what other platforms say to them.

use peermap_driver::{AllocationProp, CuResult, Device, Driver, HandleType, OsHandle, ShareableHandle, Win32Handle};
use peermap_sim::{SimMachine, SimProcess};

use crate::support::{GRANULE, in_context, map, process, read, refusal};

fn prop() -> AllocationProp {
    AllocationProp { win32_security_attributes: true, ..AllocationProp::pinned_on(0, HandleType::WIN32) }
}

/// Memory whose first bytes are 4, as a handle of its maker's table.
fn exported(process: &SimProcess) -> Win32Handle {
    let handle = process.mem_create(GRANULE, &prop(), 0).unwrap();
    let ptr = map(process, handle, GRANULE);
    process.memset_d8(ptr, 4, GRANULE).unwrap();
    process.ctx_synchronize().unwrap();
    let exported = process.mem_export_to_shareable_handle(handle, HandleType::WIN32, 0).unwrap();
    let ShareableHandle::Win32(exported) = exported else { panic!("no NT handle") };
    process.mem_unmap(ptr, GRANULE).unwrap();
    process.mem_release(handle).unwrap();
    exported
}

fn import(process: &SimProcess, handle: Win32Handle) -> peermap_driver::Result<peermap_driver::MemHandle> {
    process.mem_import_from_shareable_handle(OsHandle::Win32(handle), HandleType::WIN32)
}

#[test]
fn a_duplicated_handle_opens_the_memory_in_the_process_that_got_it() {
    let machine = SimMachine::named("windows").unwrap();
    let (exporter, importer) = (in_context(&machine), in_context(&machine));
    let handle = exported(&exporter);
    assert_eq!(refusal(import(&importer, handle)), ("WIN32-3", Some(CuResult::INVALID_VALUE)));
    let duplicate = exporter.duplicate_handle(handle, &importer).unwrap();
    drop(exporter);
    let imported = import(&importer, duplicate).unwrap();
    assert_eq!(read(&importer, map(&importer, imported, GRANULE), 2), [4, 4]);
}

#[test]
fn a_handle_keeps_its_memory_until_it_is_closed_or_its_process_ends() {
    let machine = SimMachine::named("windows").unwrap();
    let (exporter, other) = (in_context(&machine), in_context(&machine));
    let allocations = || machine.holders().unwrap().0.len();
    let before = allocations();
    let handle = exported(&exporter);
    exporter.duplicate_handle(handle, &other).unwrap();
    assert_eq!(allocations(), before + 1);
    exporter.close_handle(handle).unwrap();
    assert!(exporter.close_handle(handle).is_err());
    assert!(exporter.duplicate_handle(handle, &other).is_err());
    assert_eq!(allocations(), before + 1);
    drop(other);
    assert_eq!(allocations(), before);
}

#[test]
fn each_platform_has_its_own_types_of_handles() {
    let create = |profile: &str, prop: AllocationProp| {
        let process = process(&SimMachine::named(profile).unwrap());
        process.mem_create(GRANULE, &prop, 0).map(drop)
    };
    let plain = |handle_type| AllocationProp::pinned_on(0, handle_type);
    assert_eq!(create("windows", prop()), Ok(()));
    assert_eq!(create("windows", plain(HandleType::NONE)), Ok(()));
    for (profile, prop, rule) in [
        ("windows", plain(HandleType::WIN32), "WIN32-2"),
        ("windows", plain(HandleType::POSIX_FILE_DESCRIPTOR), "WIN32-1"),
        ("windows", plain(HandleType::FABRIC), "WIN32-1"),
        ("default", prop(), "CREATE-4"),
    ] {
        assert_eq!(refusal(create(profile, prop)), (rule, Some(CuResult::INVALID_VALUE)), "{profile}");
    }
}

#[test]
fn linux_imports_no_handle_of_windows() {
    let process = process(&SimMachine::named("default").unwrap());
    assert_eq!(refusal(import(&process, Win32Handle(4))), ("IMPORT-3", Some(CuResult::NOT_SUPPORTED)));
    assert_eq!(process.device_get(0), Ok(Device(0)));
}
