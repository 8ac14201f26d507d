//! Rules that the recorded machine never breaks: other machines, and what only the manual says.

use std::time::Instant;

use peermap_driver::{
    AccessDesc, AllocationProp, ByteSize, CompressionType, CuResult, Device, DeviceAttribute, Driver, FabricHandle,
    HandleType, HostPtr, MemPoolProps, OsHandle, PointerAttribute, ShareableHandle,
};
use peermap_sim::{SimMachine, SimProcess};

use crate::support::{GRANULE, in_context, machine, map, process, read, refusal, reserve, rule};

fn process_of(profile: &str) -> (SimMachine, SimProcess) {
    let machine = SimMachine::named(profile).unwrap();
    let process = process(&machine);
    (machine, process)
}

fn fabric_prop() -> AllocationProp {
    AllocationProp::pinned_on(0, HandleType::FABRIC)
}

/// A process of a node.
fn on(machine: &SimMachine, node: u16) -> SimProcess {
    let process = machine.process_on(node).unwrap();
    process.init(0).unwrap();
    process
}

#[test]
fn a_fabric_handle_is_granted_not_permitted_or_not_supported() {
    let supported = DeviceAttribute::HANDLE_TYPE_FABRIC_SUPPORTED;
    let ask = |profile| {
        let (_, process) = process_of(profile);
        let attribute = process.device_get_attribute(supported, Device(0)).unwrap();
        (attribute, process.mem_create(GRANULE, &fabric_prop(), 0).map_err(|error| error.rule().unwrap().0).map(|_| ()))
    };
    assert_eq!(ask("default"), (1, Ok(())));
    assert_eq!(ask("fabric-lies"), (1, Err("CREATE-9")));
    assert_eq!(ask("no-fabric"), (0, Err("CREATE-11")));
}

#[test]
fn the_attribute_for_pools_says_what_creation_says() {
    let ask = |profile: &str, handle_types| {
        let (_, process) = process_of(profile);
        let attribute = DeviceAttribute::MEMPOOL_SUPPORTED_HANDLE_TYPES;
        let attribute = process.device_get_attribute(attribute, Device(0)).unwrap();
        let made = process.mem_pool_create(&MemPoolProps::pinned_on(0, handle_types));
        (attribute, made.map_err(|error| error.rule().unwrap().0).map(|_| ()))
    };
    let descriptors = HandleType::POSIX_FILE_DESCRIPTOR;
    assert_eq!(ask("default", descriptors), (9, Ok(())));
    assert_eq!(ask("no-pools", descriptors), (0, Err("POOL-4")));
    assert_eq!(ask("no-pools", HandleType::NONE), (0, Ok(())));
}

#[test]
fn memory_is_compressible_while_the_device_has_such_memory_left() {
    let (_, process) = process_of("scarce");
    let asked = AllocationProp {
        compression: CompressionType::GENERIC,
        gpu_direct_rdma: true,
        ..AllocationProp::pinned_on(0, HandleType::NONE)
    };
    let create = || process.mem_create(ByteSize::mib(4), &asked, 0).unwrap();
    let given = |handle| {
        let prop = process.mem_get_allocation_properties_from_handle(handle).unwrap();
        (prop.compression, prop.gpu_direct_rdma)
    };
    let [first, second, third] = [create(), create(), create()];
    let (yes, no) = ((CompressionType::GENERIC, false), (CompressionType::NONE, false));
    assert_eq!([first, second, third].map(given), [yes, yes, no]);
    process.mem_release(first).unwrap();
    assert_eq!([create(), create()].map(given), [yes, no]);
}

#[test]
fn a_device_that_is_said_to_be_slower_takes_longer() {
    let (_, process) = process_of("unequal");
    let quickest = |ordinal| {
        process.ctx_create(0, Device(ordinal)).unwrap();
        let (size, prop) = (ByteSize::mib(64), AllocationProp::pinned_on(ordinal, HandleType::NONE));
        let ptr = reserve(&process, size);
        process.mem_map(ptr, size, ByteSize::ZERO, process.mem_create(size, &prop, 0).unwrap(), 0).unwrap();
        process.mem_set_access(ptr, size, &[AccessDesc::read_write(ordinal)]).unwrap();
        let fill = || {
            let begun = Instant::now();
            process.memset_d8(ptr, 7, size).unwrap();
            process.ctx_synchronize().unwrap();
            begun.elapsed()
        };
        // The first fill takes the memory from the host.
        fill();
        (0..5).map(|_| fill()).min().unwrap()
    };
    let (quick, slow) = (quickest(0), quickest(1));
    assert!(slow > 2 * quick, "{quick:?} and {slow:?}");
}

#[test]
fn a_fabric_handle_shares_memory_as_a_descriptor_does() {
    let machine = SimMachine::named("default").unwrap();
    let (exporter, importer) = (in_context(&machine), in_context(&machine));
    let handle = exporter.mem_create(GRANULE, &fabric_prop(), 0).unwrap();
    let ptr = map(&exporter, handle, GRANULE);
    exporter.memset_d8(ptr, 4, GRANULE).unwrap();
    exporter.ctx_synchronize().unwrap();
    let ShareableHandle::Fabric(name) = exporter.mem_export_to_shareable_handle(handle, HandleType::FABRIC, 0).unwrap()
    else {
        panic!("no fabric handle");
    };
    let open =
        |name: &FabricHandle| importer.mem_import_from_shareable_handle(OsHandle::Fabric(name), HandleType::FABRIC);
    let imported = open(&name).unwrap();
    assert_eq!(read(&importer, map(&importer, imported, GRANULE), 2), [4, 4]);
    assert_eq!(refusal(open(&FabricHandle([0; 64]))), ("IMPORT-5", Some(CuResult::INVALID_VALUE)));
    drop(exporter);
    assert_eq!(rule(open(&name)), "IMPORT-5");
}

#[test]
fn a_process_of_a_node_sees_the_devices_of_that_node() {
    let machine = SimMachine::named("islands").unwrap();
    let whole = process(&machine);
    let there = on(&machine, 4);
    assert_eq!((whole.device_get_count(), there.device_get_count()), (Ok(12), Ok(2)));
    assert_eq!(there.device_get_uuid(Device(1)), whole.device_get_uuid(Device(9)));
}

#[test]
fn a_fabric_handle_reaches_as_far_as_channel_domain_and_daemons_do() {
    let machine = SimMachine::named("islands").unwrap();
    let exporter = on(&machine, 0);
    let prop = fabric_prop();
    let handle = exporter.mem_create(GRANULE, &prop, 0).unwrap();
    let name = exporter.mem_export_to_shareable_handle(handle, HandleType::FABRIC, 0).unwrap();
    let ShareableHandle::Fabric(name) = name else { panic!("no fabric handle") };
    let open = |node| on(&machine, node).mem_import_from_shareable_handle(OsHandle::Fabric(&name), HandleType::FABRIC);
    assert!(open(0).is_ok());
    assert!(open(1).is_ok());
    assert_eq!(refusal(open(2)), ("FABRIC-1", Some(CuResult::NOT_PERMITTED)));
    assert_eq!(refusal(open(3)), ("FABRIC-1", Some(CuResult::NOT_PERMITTED)));
    assert_eq!(refusal(open(4)), ("FABRIC-2", Some(CuResult::INVALID_HANDLE)));
    assert_eq!(refusal(open(5)), ("FABRIC-3", Some(CuResult::INVALID_HANDLE)));
    assert_eq!(refusal(on(&machine, 3).mem_create(GRANULE, &prop, 0)), ("CREATE-9", Some(CuResult::NOT_PERMITTED)));
    let mut altered = name;
    altered.0[40] ^= 1;
    let opened = on(&machine, 1).mem_import_from_shareable_handle(OsHandle::Fabric(&altered), HandleType::FABRIC);
    assert_eq!(refusal(opened), ("IMPORT-5", Some(CuResult::INVALID_VALUE)));
}

#[test]
fn a_pool_s_fabric_handle_reaches_as_far_as_memory_s() {
    let machine = SimMachine::named("islands").unwrap();
    let exporter = on(&machine, 0);
    let pool = exporter.mem_pool_create(&MemPoolProps::pinned_on(0, HandleType::FABRIC)).unwrap();
    let name = exporter.mem_pool_export_to_shareable_handle(pool, HandleType::FABRIC, 0).unwrap();
    let ShareableHandle::Fabric(name) = name else { panic!("no fabric handle") };
    let open = |node| {
        on(&machine, node)
            .mem_pool_import_from_shareable_handle(OsHandle::Fabric(&name), HandleType::FABRIC, 0)
            .map(drop)
    };
    assert_eq!(open(1), Ok(()));
    assert_eq!([2, 4, 5].map(|node| refusal(open(node)).0), ["FABRIC-1", "FABRIC-2", "FABRIC-3"]);
}

#[test]
fn memory_of_another_node_is_read_and_written() {
    let machine = SimMachine::named("nvl72").unwrap();
    let (exporter, importer) = (on(&machine, 0), on(&machine, 17));
    for process in [&exporter, &importer] {
        process.ctx_create(0, Device(0)).unwrap();
    }
    let handle = exporter.mem_create(GRANULE, &fabric_prop(), 0).unwrap();
    let ShareableHandle::Fabric(name) = exporter.mem_export_to_shareable_handle(handle, HandleType::FABRIC, 0).unwrap()
    else {
        panic!("no fabric handle");
    };
    let imported = importer.mem_import_from_shareable_handle(OsHandle::Fabric(&name), HandleType::FABRIC).unwrap();
    let ptr = map(&importer, imported, GRANULE);
    importer.memset_d8(ptr, 9, GRANULE).unwrap();
    importer.ctx_synchronize().unwrap();
    assert_eq!(read(&exporter, map(&exporter, handle, GRANULE), 3), [9, 9, 9]);
}

#[test]
fn a_device_has_only_so_many_peers() {
    let (_, process) = process_of("peers-8");
    let devices = process.device_get_count().unwrap();
    let peers: Vec<_> = (1..devices).map(|device| process.ctx_create(0, Device(device)).unwrap()).collect();
    process.ctx_create(0, Device(0)).unwrap();
    let answers: Vec<_> = peers.into_iter().map(|peer| process.ctx_enable_peer_access(peer, 0)).collect();
    assert!(answers[..8].iter().all(Result::is_ok));
    assert_eq!(refusal(answers[8].clone()), ("PEER-4", Some(CuResult::TOO_MANY_PEERS)));
}

#[test]
fn devices_that_are_not_connected_are_no_peers() {
    let (_, process) = process_of("no-peer");
    assert_eq!(process.device_can_access_peer(Device(0), Device(1)), Ok(false));
    let peer = process.ctx_create(0, Device(1)).unwrap();
    process.ctx_create(0, Device(0)).unwrap();
    assert_eq!(rule(process.ctx_enable_peer_access(peer, 0)), "PEER-2");
}

#[test]
fn the_granularity_is_the_profile_s() {
    let (_, process) = process_of("g64k");
    let prop = AllocationProp::pinned_on(0, HandleType::NONE);
    assert!(process.mem_create(ByteSize::kib(64), &prop, 0).is_ok());
    assert_eq!(rule(process.mem_create(ByteSize::kib(32), &prop, 0)), "CREATE-7");
}

#[test]
fn devices_and_attributes_that_do_not_exist_are_refused() {
    let process = process(&machine());
    for device in [-1, 2] {
        assert_eq!(refusal(process.device_get(device)), ("DEVICE-1", Some(CuResult::INVALID_DEVICE)));
        assert_eq!(rule(process.device_total_mem(Device(device))), "DEVICE-1");
        assert_eq!(rule(process.device_get_uuid(Device(device))), "DEVICE-1");
    }
    let unknown = DeviceAttribute::new(9999);
    assert_eq!(rule(process.device_get_attribute(unknown, Device(0))), "DEVICE-2");
    let ptr = crate::support::mapped(&process, GRANULE).1;
    assert_eq!(rule(process.pointer_get_attribute(PointerAttribute::new(9999), ptr)), "POINTER-2");
}

#[test]
fn codes_have_names_and_unknown_ones_do_not() {
    let process = machine().process().unwrap();
    assert_eq!(process.get_error_name(CuResult::NOT_READY), Ok("CUDA_ERROR_NOT_READY".to_owned()));
    assert_eq!(process.get_error_string(CuResult::SUCCESS), Ok("no error".to_owned()));
    assert_eq!(rule(process.get_error_name(CuResult::new(123_456))), "ERROR-1");
    assert_eq!(rule(process.get_error_string(CuResult::new(123_456))), "ERROR-1");
}

#[test]
fn page_locked_memory_has_a_size_and_is_freed_once() {
    let process = in_context(&machine());
    assert_eq!(rule(process.mem_host_alloc(ByteSize::ZERO, 0)), "HOST-1");
    let ptr: HostPtr = process.mem_host_alloc(ByteSize::new(10), 0).unwrap();
    // SAFETY: nobody uses the memory.
    unsafe { process.mem_free_host(ptr) }.unwrap();
    // SAFETY: the simulator looks the address up and follows it nowhere.
    assert_eq!(rule(unsafe { process.mem_free_host(ptr) }), "HOST-2");
}
