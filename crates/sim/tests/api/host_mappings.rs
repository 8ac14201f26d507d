//! Memory of the host that is mapped: rights of the host beside those of devices, and what the CPU reaches.

use peermap_driver::{
    AccessDesc, AccessFlags, AllocationProp, ByteSize, CuResult, DevicePtr, Driver, HandleType, HostAccess, Location,
    MemHandle, Stream,
};
use peermap_model::{Grace, Policy};
use peermap_sim::SimProcess;

use crate::support::{
    GRANULE, export, import, in_context, machine, machine_with, mapped, offset, read, refusal, reserve, rule,
};

const HOST: Location = Location::host_numa(0);

fn host_memory(process: &SimProcess) -> MemHandle {
    let prop = AllocationProp { location: HOST, ..AllocationProp::pinned_on(0, HandleType::POSIX_FILE_DESCRIPTOR) };
    process.mem_create(GRANULE, &prop, 0).unwrap()
}

/// Maps a handle, and lets nobody in.
fn map(process: &SimProcess, handle: MemHandle) -> DevicePtr {
    let ptr = reserve(process, GRANULE);
    process.mem_map(ptr, GRANULE, ByteSize::ZERO, handle, 0).unwrap();
    ptr
}

fn grant(process: &SimProcess, ptr: DevicePtr, location: Location, flags: AccessFlags) {
    process.mem_set_access(ptr, GRANULE, &[AccessDesc { location, flags }]).unwrap();
}

fn cpu_reads(process: &SimProcess, ptr: DevicePtr) -> peermap_driver::Result<u8> {
    let mut byte = [0];
    process.host_read(&mut byte, ptr).map(|()| byte[0])
}

#[test]
fn host_and_device_have_rights_apart() {
    let process = in_context(&machine());
    let ptr = map(&process, host_memory(&process));
    assert_eq!(refusal(cpu_reads(&process, ptr)), ("CPU-1", Some(CuResult::ILLEGAL_ADDRESS)));
    grant(&process, ptr, Location::device(0), AccessFlags::READWRITE);
    process.memset_d8(ptr, 7, GRANULE).unwrap();
    process.ctx_synchronize().unwrap();
    assert_eq!(rule(cpu_reads(&process, ptr)), "CPU-1", "the device's rights are not the host's");
    grant(&process, ptr, HOST, AccessFlags::READ);
    assert_eq!(cpu_reads(&process, ptr), Ok(7));
    assert_eq!(rule(process.host_write(ptr, &[1])), "CPU-1");
    grant(&process, ptr, HOST, AccessFlags::READWRITE);
    grant(&process, ptr, Location::device(0), AccessFlags::NONE);
    process.host_write(offset(ptr, 5), &[1, 2, 3]).unwrap();
    assert_eq!(cpu_reads(&process, offset(ptr, 6)), Ok(2));
    assert_eq!(rule(process.memset_d8(ptr, 0, GRANULE)), "COPY-1", "the host's rights are not the device's");
    grant(&process, ptr, Location::device(0), AccessFlags::READ);
    assert_eq!(read(&process, ptr, 8), [7, 7, 7, 7, 7, 1, 2, 3]);
}

#[test]
fn the_host_reaches_no_memory_of_a_device_and_nothing_that_is_unmapped() {
    let process = in_context(&machine());
    let (_, of_device) = mapped(&process, GRANULE);
    assert_eq!(rule(cpu_reads(&process, of_device)), "CPU-1");
    let ptr = map(&process, host_memory(&process));
    grant(&process, ptr, HOST, AccessFlags::READWRITE);
    assert_eq!(rule(process.host_write(offset(ptr, GRANULE.get() - 1), &[1, 2])), "CPU-1");
    process.mem_unmap(ptr, GRANULE).unwrap();
    assert_eq!(rule(cpu_reads(&process, ptr)), "CPU-1");
}

#[test]
fn another_process_sees_what_the_cpu_wrote_by_its_own_rights() {
    let machine = machine();
    let (one, other) = (in_context(&machine), in_context(&machine));
    let handle = host_memory(&one);
    let (ours, theirs) = (map(&one, handle), map(&other, import(&other, &export(&one, handle)).unwrap()));
    grant(&one, ours, HOST, AccessFlags::READWRITE);
    one.host_write(ours, &[9]).unwrap();
    assert_eq!(rule(cpu_reads(&other, theirs)), "CPU-1");
    grant(&other, theirs, HOST, AccessFlags::READ);
    assert_eq!(cpu_reads(&other, theirs), Ok(9));
}

#[test]
fn a_cpu_that_polls_lets_queued_work_go_on() {
    let process = in_context(&machine_with(Policy::Measured, Grace::Calls(1000)));
    let ptr = map(&process, host_memory(&process));
    grant(&process, ptr, Location::device(0), AccessFlags::READWRITE);
    grant(&process, ptr, HOST, AccessFlags::READ);
    process.memset_d8_async(ptr, 7, GRANULE, Stream::NULL).unwrap();
    let polled = (0..).take_while(|_| cpu_reads(&process, ptr) == Ok(0)).count();
    assert!((1..=1000).contains(&polled), "{polled}");
    assert_eq!(cpu_reads(&process, ptr), Ok(7));
}
