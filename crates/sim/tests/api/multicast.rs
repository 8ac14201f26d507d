//! Multicast objects as a user of them sees them.

use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use peermap_driver::{
    AccessDesc, AllocationProp, ByteSize, CuResult, Device, DevicePtr, Dim3, Driver, DriverError, GranularityOption,
    HandleType, JitOptions, KernelArg, LaunchConfig, Location, MemHandle, MulticastObjectProp, OsHandle,
    PointerAttribute, ShareableHandle, Stream,
};
use peermap_model::{Grace, Profile};
use peermap_sim::{MachineOptions, SimMachine, SimProcess};

use crate::support::{GRANULE, create, export, held_bytes, import, process, read, refusal, reserve};

const FD: HandleType = HandleType::POSIX_FILE_DESCRIPTOR;

fn machine() -> SimMachine {
    let options = MachineOptions { grace: Grace::Never, ..MachineOptions::default() };
    SimMachine::new(Profile::named("default").unwrap(), options).unwrap()
}

/// A team of so many devices of one process, each of which has been added.
fn team(process: &SimProcess, devices: i32, size: ByteSize) -> MemHandle {
    let devices_of_it = u32::try_from(devices).unwrap();
    let team = process.multicast_create(&MulticastObjectProp::team_of(devices_of_it, size, FD)).unwrap();
    (0..devices).for_each(|device| process.multicast_add_device(team, Device(device)).unwrap());
    team
}

/// Maps memory or a team, for the given devices.
fn map_for(process: &SimProcess, handle: MemHandle, size: ByteSize, devices: &[i32]) -> DevicePtr {
    let ptr = reserve(process, size);
    process.mem_map(ptr, size, ByteSize::ZERO, handle, 0).unwrap();
    let desc: Vec<AccessDesc> = devices.iter().map(|device| AccessDesc::read_write(*device)).collect();
    process.mem_set_access(ptr, size, &desc).unwrap();
    ptr
}

fn bind(process: &SimProcess, team: MemHandle, memory: MemHandle) {
    process.multicast_bind_mem(team, ByteSize::ZERO, memory, ByteSize::ZERO, GRANULE, 0).unwrap();
}

/// A team of two devices, mapped, and the address of each device's own memory behind it.
struct Two {
    process: SimProcess,
    team: MemHandle,
    address: DevicePtr,
    own: [DevicePtr; 2],
}

fn two(machine: &SimMachine) -> Two {
    let process = process(machine);
    process.ctx_create(0, Device(0)).unwrap();
    let team = team(&process, 2, GRANULE);
    let own = [0, 1].map(|device| {
        let memory = create(&process, device, GRANULE);
        bind(&process, team, memory);
        map_for(&process, memory, GRANULE, &[0, 1])
    });
    let address = map_for(&process, team, GRANULE, &[0, 1]);
    Two { process, team, address, own }
}

/// Runs a kernel of one thread, made of this body, with `%m` and `%u` for its arguments.
fn run(process: &SimProcess, body: &str, arguments: [DevicePtr; 2]) -> Result<(), DriverError> {
    let text = format!(
        ".version 8.1\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 m, .param .u64 u) {{
.reg .b32 %r<3>; .reg .b64 %m, %u;
ld.param.u64 %m, [m]; ld.param.u64 %u, [u];
{body}
ret; }}"
    );
    let module = process.module_load_data_ex(text.as_bytes(), &mut JitOptions::default())?;
    let function = process.module_get_function(module, "k")?;
    let (grid, block) = (Dim3::x(1), Dim3::x(1));
    let config = LaunchConfig { function, grid, block, shared_bytes: ByteSize::ZERO, stream: Stream::NULL };
    // SAFETY: the kernel has two parameters, both addresses.
    unsafe { process.launch_kernel(&config, &arguments.map(KernelArg::Ptr)) }?;
    process.ctx_synchronize()
}

#[test]
fn what_is_written_through_a_team_is_in_each_copy_and_a_reduction_joins_them() {
    let Two { process, address, own, .. } = two(&machine());
    process.memset_d8(address, 5, GRANULE).unwrap();
    process.memcpy_htod(address, &[1, 2, 3, 4]).unwrap();
    assert_eq!(own.map(|copy| read(&process, copy, 6)), [[1, 2, 3, 4, 5, 5], [1, 2, 3, 4, 5, 5]]);
    process.memcpy_htod(own[1], &[9, 0, 0, 0]).unwrap();
    run(&process, "multimem.red.relaxed.sys.global.add.u32 [%m], 1;", [address, own[0]]).unwrap();
    assert_eq!(own.map(|copy| read(&process, copy, 4)), [[2, 2, 3, 4], [10, 0, 0, 0]]);
    let load = "multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%m]; st.global.u32 [%u+8], %r1;";
    run(&process, load, [address, own[0]]).unwrap();
    assert_eq!(read(&process, own[0], 12)[8..], [12, 2, 3, 4]);
}

#[test]
fn a_team_is_read_by_multimem_only() {
    let machine = machine();
    let Two { process, address, own, .. } = two(&machine);
    let not_modelled = |answer: Result<(), DriverError>| matches!(answer, Err(DriverError::NotModelled { .. }));
    assert!(not_modelled(process.memcpy_dtoh(&mut [0], address)));
    assert!(not_modelled(process.memcpy_dtod(own[0], address, GRANULE)));
    assert!(not_modelled(process.pointer_get_attribute(PointerAttribute::DEVICE_ORDINAL, address).map(drop)));
    let load = run(&process, "ld.global.u32 %r1, [%m];", [address, own[0]]);
    assert!(load.unwrap_err().to_string().contains("a multicast address, which only multimem instructions may read"));
}

#[test]
fn memory_is_bound_by_handle_or_by_address_and_piece_by_piece() {
    let process = process(&machine());
    process.ctx_create(0, Device(0)).unwrap();
    let size = ByteSize::mib(4);
    let team = team(&process, 1, size);
    let memory = process.mem_create(size, &AllocationProp::pinned_on(0, FD), 0).unwrap();
    let own = map_for(&process, memory, size, &[0]);
    // Crosswise: the first piece of the team is the second of the memory.
    process.multicast_bind_mem(team, ByteSize::ZERO, memory, GRANULE, GRANULE, 0).unwrap();
    process.multicast_bind_addr(team, GRANULE, own, GRANULE, 0).unwrap();
    let address = map_for(&process, team, size, &[0]);
    process.memcpy_htod(address, &[1]).unwrap();
    process.memcpy_htod(address.checked_add(GRANULE).unwrap(), &[2]).unwrap();
    assert_eq!([read(&process, own, 1), read(&process, own.checked_add(GRANULE).unwrap(), 1)], [[2], [1]]);
}

#[test]
fn a_device_whose_memory_was_unbound_is_named_and_another_bind_puts_it_right() {
    let machine = machine();
    let Two { process, team, address, .. } = two(&machine);
    process.multicast_unbind(team, Device(1), ByteSize::ZERO, GRANULE).unwrap();
    bind(&process, team, create(&process, 1, GRANULE));
    process.memset_d8(address, 1, GRANULE).unwrap();
    process.ctx_synchronize().unwrap();
    process.multicast_unbind(team, Device(1), ByteSize::ZERO, GRANULE).unwrap();
    process.memset_d8(address, 1, GRANULE).unwrap();
    let error = process.ctx_synchronize().unwrap_err();
    assert!(error.to_string().contains("device 1 of the team has no memory bound"), "{error}");
}

#[test]
fn an_unbind_that_matches_no_bind_is_not_modelled() {
    let Two { process, team, .. } = two(&machine());
    process.multicast_unbind(team, Device(0), ByteSize::ZERO, GRANULE).unwrap();
    let again = process.multicast_unbind(team, Device(0), ByteSize::ZERO, GRANULE);
    assert!(matches!(again, Err(DriverError::NotModelled { .. })), "{again:?}");
    let stranger = process.multicast_unbind(team, Device(5), ByteSize::ZERO, GRANULE);
    assert_eq!(refusal(stranger), ("MULTICAST-8", Some(CuResult::INVALID_DEVICE)));
}

#[test]
fn a_second_bind_over_the_first_is_not_modelled() {
    let Two { process, team, .. } = two(&machine());
    let memory = create(&process, 1, GRANULE);
    let again = process.multicast_bind_mem(team, ByteSize::ZERO, memory, ByteSize::ZERO, GRANULE, 0);
    assert!(matches!(again, Err(DriverError::NotModelled { .. })), "{again:?}");
}

#[test]
fn only_devices_of_the_team_get_access() {
    let Two { process, address, .. } = two(&machine());
    let desc = [AccessDesc::read_write(2)];
    let answer = process.mem_set_access(address, GRANULE, &desc);
    assert!(matches!(answer, Err(DriverError::NotModelled { .. })), "{answer:?}");
    let rights = process.mem_get_access(address, Location::device(1)).unwrap();
    assert_eq!(rights, peermap_driver::AccessFlags::READWRITE);
}

#[test]
fn sizes_are_multiples_of_the_teams_own_granularity() {
    let process = process(&SimMachine::named("wide-teams").unwrap());
    let prop = MulticastObjectProp::team_of(2, ByteSize::mib(8), FD);
    let granularity = |option| process.multicast_get_granularity(&prop, option).unwrap();
    assert_eq!(granularity(GranularityOption::MINIMUM), ByteSize::mib(8));
    assert_eq!(granularity(GranularityOption::RECOMMENDED), ByteSize::mib(64));
    let small = process.multicast_create(&MulticastObjectProp { size: ByteSize::mib(6), ..prop });
    assert_eq!(refusal(small), ("MULTICAST-3", Some(CuResult::INVALID_VALUE)));
    let team = process.multicast_create(&prop).unwrap();
    (0..2).for_each(|device| process.multicast_add_device(team, Device(device)).unwrap());
    let memory = process.mem_create(ByteSize::mib(6), &AllocationProp::pinned_on(0, FD), 0).unwrap();
    let bound = process.multicast_bind_mem(team, ByteSize::ZERO, memory, ByteSize::ZERO, ByteSize::mib(6), 0);
    assert_eq!(refusal(bound), ("MULTICAST-14", Some(CuResult::INVALID_VALUE)));
}

#[test]
fn a_bind_waits_for_the_last_device_of_another_process() {
    let machine = machine();
    let (one, other) = (process(&machine), process(&machine));
    let ours = one.multicast_create(&MulticastObjectProp::team_of(2, GRANULE, FD)).unwrap();
    one.multicast_add_device(ours, Device(0)).unwrap();
    let theirs = import(&other, &export(&one, ours)).unwrap();
    one.wait_for_teams(Duration::from_secs(60));
    let memory = create(&one, 0, GRANULE);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| one.multicast_bind_mem(ours, ByteSize::ZERO, memory, ByteSize::ZERO, GRANULE, 0));
        other.multicast_add_device(theirs, Device(3)).unwrap();
        waiting.join().unwrap().unwrap();
    });
}

#[test]
fn a_call_that_waits_too_long_says_who_is_missing() {
    let machine = machine();
    let (one, other) = (process(&machine), process(&machine));
    let ours = one.multicast_create(&MulticastObjectProp::team_of(3, GRANULE, FD)).unwrap();
    let theirs = import(&other, &export(&one, ours)).unwrap();
    one.multicast_add_device(ours, Device(0)).unwrap();
    one.multicast_add_device(ours, Device(4)).unwrap();
    one.wait_for_teams(Duration::from_millis(5));
    let ptr = reserve(&one, GRANULE);
    let memory = create(&one, 0, GRANULE);
    for answer in [
        one.multicast_bind_mem(ours, ByteSize::ZERO, memory, ByteSize::ZERO, GRANULE, 0),
        one.mem_map(ptr, GRANULE, ByteSize::ZERO, ours, 0),
    ] {
        let error = answer.unwrap_err();
        assert!(matches!(error, DriverError::WouldHang { .. }), "{error}");
        assert_eq!(error.explanation().unwrap().rule.0, "WAIT-1");
        let told = error.to_string();
        for part in ["devices 3", "device 4 by process 0", "missing 1", "[1, 2, 3, 5, 6, 7]", "process 1"] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
    other.multicast_add_device(theirs, Device(7)).unwrap();
    one.mem_map(ptr, GRANULE, ByteSize::ZERO, ours, 0).unwrap();
}

#[test]
fn an_imported_team_binds_only_memory_that_can_be_shared_and_is_not_exported_again() {
    let machine = machine();
    let (one, other) = (process(&machine), process(&machine));
    let ours = team(&one, 1, GRANULE);
    let theirs = import(&other, &export(&one, ours)).unwrap();
    let private = other.mem_create(GRANULE, &AllocationProp::pinned_on(0, HandleType::NONE), 0).unwrap();
    let bound = other.multicast_bind_mem(theirs, ByteSize::ZERO, private, ByteSize::ZERO, GRANULE, 0);
    assert_eq!(refusal(bound), ("MULTICAST-17", Some(CuResult::INVALID_VALUE)));
    let again = other.mem_export_to_shareable_handle(theirs, FD, 0).map(drop);
    assert_eq!(refusal(again), ("EXPORT-3", Some(CuResult::INVALID_VALUE)));
    bind(&other, theirs, create(&other, 0, GRANULE));
}

#[test]
fn a_team_keeps_what_is_bound_to_it_and_everything_goes_with_it() {
    let machine = machine();
    let (one, other) = (process(&machine), process(&machine));
    let (ours, memory) = (team(&one, 1, GRANULE), create(&one, 0, GRANULE));
    bind(&one, ours, memory);
    one.mem_release(memory).unwrap();
    let descriptor: OwnedFd = export(&one, ours);
    drop(one);
    assert_eq!(held_bytes(&machine), 2 * GRANULE.get(), "the team and its memory");
    assert!(machine.holders().unwrap().to_string().contains("the team of cuMulticastBindMem"));
    other.ctx_create(0, Device(0)).unwrap();
    let theirs = import(&other, &descriptor).unwrap();
    drop(descriptor);
    let address = map_for(&other, theirs, GRANULE, &[0]);
    other.memset_d8(address, 1, GRANULE).unwrap();
    other.ctx_synchronize().unwrap();
    other.mem_release(theirs).unwrap();
    assert_eq!(held_bytes(&machine), 2 * GRANULE.get(), "a mapping keeps it");
    other.mem_unmap(address, GRANULE).unwrap();
    assert_eq!((held_bytes(&machine), machine.host_memory_used()), (0, ByteSize::ZERO));
}

#[test]
fn a_team_of_a_process_is_no_memory_and_memory_no_team() {
    let process = process(&machine());
    let (team, memory) = (team(&process, 1, GRANULE), create(&process, 0, GRANULE));
    let whole = (ByteSize::ZERO, GRANULE);
    let bound = process.multicast_bind_mem(memory, whole.0, memory, whole.0, whole.1, 0);
    assert_eq!(refusal(bound), ("MULTICAST-7", Some(CuResult::INVALID_VALUE)));
    let address = map_for(&process, team, GRANULE, &[0]);
    let bound = process.multicast_bind_addr(team, whole.0, address, whole.1, 0);
    assert_eq!(refusal(bound), ("MULTICAST-12", Some(CuResult::INVALID_VALUE)));
    let bound = process.multicast_bind_mem(team, whole.0, MemHandle::NULL, whole.0, whole.1, 0);
    assert_eq!(refusal(bound), ("MULTICAST-12", Some(CuResult::INVALID_VALUE)));
    let properties = process.mem_get_allocation_properties_from_handle(team);
    assert!(matches!(properties, Err(DriverError::NotModelled { .. })), "{properties:?}");
}

#[test]
fn a_team_is_shared_by_a_fabric_handle_too() {
    let machine = machine();
    let (one, other) = (process(&machine), process(&machine));
    let prop = MulticastObjectProp::team_of(2, GRANULE, HandleType::FABRIC);
    let ours = one.multicast_create(&prop).unwrap();
    let ShareableHandle::Fabric(handle) = one.mem_export_to_shareable_handle(ours, HandleType::FABRIC, 0).unwrap()
    else {
        panic!("a fabric handle was asked for")
    };
    let theirs = other.mem_import_from_shareable_handle(OsHandle::Fabric(&handle), HandleType::FABRIC).unwrap();
    one.multicast_add_device(ours, Device(0)).unwrap();
    other.multicast_add_device(theirs, Device(1)).unwrap();
    let memory = other.mem_create(GRANULE, &AllocationProp::pinned_on(1, HandleType::FABRIC), 0).unwrap();
    bind(&other, theirs, memory);
}
