//! Virtual memory.

use peermap_driver::{
    AccessDesc, AccessFlags, AllocationProp, ByteSize, CuResult, Device, DevicePtr, Driver, GranularityOption,
    HandleType, HostAccess, Location, MemHandle,
};

use crate::rig::{Current, DEVICE, GRANULE, Held, Mapped, Reserved, SHAREABLE, at, driver, holds, read, refused};

const READ_WRITE: AccessDesc = AccessDesc::read_write(DEVICE.0);

fn doubled() -> ByteSize {
    GRANULE.checked_mul(2).expect("4 MiB")
}

/// Trace vmm, granularity.
pub fn the_granularity_is_2_mib_whatever_is_asked() {
    let elsewhere = AllocationProp::pinned_on(7, HandleType::NONE);
    for (prop, option) in [
        (SHAREABLE, GranularityOption::MINIMUM),
        (SHAREABLE, GranularityOption::RECOMMENDED),
        (elsewhere, GranularityOption::MINIMUM),
    ] {
        assert_eq!(driver().mem_get_allocation_granularity(&prop, option), Ok(GRANULE));
    }
}

pub fn memory_is_created_mapped_filled_read_and_given_back() {
    let _context = Current::new();
    let driver = driver();
    let size = doubled();
    let handle = driver.mem_create(size, &SHAREABLE, 0).expect("memory");
    let ptr = driver.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0).expect("addresses");
    assert!(ptr.is_multiple_of(GRANULE));
    assert_eq!(driver.mem_map(ptr, size, ByteSize::ZERO, handle, 0), Ok(()));
    assert_eq!(driver.mem_set_access(ptr, size, &[READ_WRITE]), Ok(()));
    assert_eq!(driver.mem_get_access(ptr, Location::device(DEVICE.0)), Ok(AccessFlags::READWRITE));
    assert_eq!(driver.mem_get_allocation_properties_from_handle(handle), Ok(SHAREABLE));

    assert_eq!(driver.memset_d8(ptr, 0xA5, size), Ok(()));
    assert_eq!(driver.ctx_synchronize(), Ok(()));
    assert!(holds(ptr, size, 0xA5));

    assert_eq!(driver.mem_unmap(ptr, size), Ok(()));
    assert_eq!(driver.mem_address_free(ptr, size), Ok(()));
    assert_eq!(driver.mem_release(handle), Ok(()));
}

/// Trace vmm, zero-filled.
pub fn fresh_memory_reads_as_zero() {
    let _context = Current::new();
    let memory = Mapped::new(doubled());
    assert!(holds(memory.ptr, doubled(), 0));
}

pub fn copies_carry_every_byte() {
    let _context = Current::new();
    let memory = Mapped::new(doubled());
    let pattern: Vec<u8> = (0..=250).cycle().take(GRANULE.to_usize().expect("2 MiB")).collect();
    assert_eq!(driver().memcpy_htod(memory.ptr, &pattern), Ok(()));
    let second = at(memory.ptr, GRANULE.get());
    assert_eq!(driver().memcpy_dtod(second, memory.ptr, GRANULE), Ok(()));
    assert_eq!(driver().ctx_synchronize(), Ok(()));
    assert!(read(second, GRANULE) == pattern);
}

/// Trace vmm, create-sizes, reserve-args and access-args.
pub fn sizes_and_rights_that_the_driver_refuses() {
    let driver = driver();
    for bytes in [0, 1, 4096, GRANULE.get() + 4096] {
        let size = ByteSize::new(bytes);
        assert_eq!(driver.mem_create(size, &SHAREABLE, 0), refused(CuResult::INVALID_VALUE), "{size}");
        let reserved = driver.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0);
        assert_eq!(reserved, refused(CuResult::INVALID_VALUE), "{size}");
    }
    let three = driver.mem_address_reserve(GRANULE, ByteSize::new(3), DevicePtr::NULL, 0);
    assert_eq!(three, refused(CuResult::INVALID_VALUE));
    assert_eq!(driver.mem_create(ByteSize::gib(1 << 20), &SHAREABLE, 0), refused(CuResult::OUT_OF_MEMORY));
    assert_eq!(driver.mem_release(MemHandle::NULL), refused(CuResult::INVALID_VALUE));

    let memory = Mapped::new(GRANULE);
    let set = |desc: &[AccessDesc]| driver.mem_set_access(memory.ptr, GRANULE, desc);
    let with = |flags| AccessDesc { location: Location::device(DEVICE.0), flags: AccessFlags(flags) };
    assert_eq!(set(&[]), refused(CuResult::INVALID_VALUE));
    assert_eq!(set(&[with(2)]), refused(CuResult::INVALID_VALUE));
    assert_eq!(set(&[AccessDesc::read_write(-1)]), refused(CuResult::INVALID_VALUE));
    assert_eq!(set(&[with(1), with(3)]), Ok(()), "the last of two rights counts");
    assert_eq!(driver.mem_get_access(memory.ptr, Location::device(DEVICE.0)), Ok(AccessFlags::READWRITE));
}

/// Trace vmm, map-args.
pub fn a_mapping_takes_the_whole_allocation() {
    let handle = Held::new(doubled());
    let addresses = Reserved::new(ByteSize::mib(8));
    let map = |size, offset, flags| driver().mem_map(addresses.ptr, size, offset, handle.0, flags);
    assert_eq!(map(GRANULE, ByteSize::ZERO, 0), refused(CuResult::NOT_SUPPORTED));
    assert_eq!(map(doubled(), GRANULE, 0), refused(CuResult::NOT_SUPPORTED));
    assert_eq!(map(ByteSize::ZERO, ByteSize::ZERO, 0), refused(CuResult::INVALID_VALUE));
    assert_eq!(map(doubled(), ByteSize::ZERO, 1), refused(CuResult::INVALID_VALUE));
    assert_eq!(map(doubled(), ByteSize::ZERO, 0), Ok(()));
}

/// Trace vmm, access-args.
pub fn rights_are_none_until_they_are_set() {
    let handle = Held::new(GRANULE);
    let addresses = Reserved::new(doubled());
    let here = Location::device(DEVICE.0);
    assert_eq!(driver().mem_map(addresses.ptr, GRANULE, ByteSize::ZERO, handle.0, 0), Ok(()));
    assert_eq!(driver().mem_get_access(addresses.ptr, here), Ok(AccessFlags::NONE));
    assert_eq!(driver().mem_set_access(addresses.ptr, GRANULE, &[READ_WRITE]), Ok(()));
    assert_eq!(driver().mem_get_access(at(addresses.ptr, 0x12345), here), Ok(AccessFlags::READWRITE));
    let unmapped = at(addresses.ptr, GRANULE.get());
    assert_eq!(driver().mem_get_access(unmapped, here), refused(CuResult::INVALID_VALUE));
    let nowhere = Location::device(Device(999).0);
    assert_eq!(driver().mem_get_access(addresses.ptr, nowhere), refused(CuResult::INVALID_DEVICE));
}

/// Trace vmm, copy-faults.
pub fn copies_without_access_are_refused_and_the_context_lives() {
    let _context = Current::new();
    let memory = Mapped::new(GRANULE);
    let sixteen = ByteSize::new(16);
    let with = |flags| [AccessDesc { location: Location::device(DEVICE.0), flags }];
    assert_eq!(driver().memset_d8(memory.ptr, 3, GRANULE), Ok(()));
    assert_eq!(driver().ctx_synchronize(), Ok(()));

    assert_eq!(driver().mem_set_access(memory.ptr, GRANULE, &with(AccessFlags::READ)), Ok(()));
    assert_eq!(driver().memset_d8(memory.ptr, 8, sixteen), refused(CuResult::INVALID_VALUE));
    assert_eq!(driver().memcpy_htod(memory.ptr, &[6; 16]), refused(CuResult::INVALID_VALUE));
    assert_eq!(driver().ctx_synchronize(), Ok(()));
    assert!(holds(memory.ptr, GRANULE, 3));

    assert_eq!(driver().mem_set_access(memory.ptr, GRANULE, &with(AccessFlags::NONE)), Ok(()));
    assert_eq!(driver().memcpy_dtoh(&mut [0; 16], memory.ptr), refused(CuResult::INVALID_VALUE));
    assert_eq!(driver().ctx_synchronize(), Ok(()));
}

/// Trace vmm, retain.
pub fn a_retained_handle_is_the_mapped_one() {
    let handle = Held::new(GRANULE);
    let addresses = Reserved::new(doubled());
    assert_eq!(driver().mem_map(addresses.ptr, GRANULE, ByteSize::ZERO, handle.0, 0), Ok(()));
    assert_eq!(driver().mem_retain_allocation_handle(at(addresses.ptr, 4097)), Ok(handle.0));
    assert_eq!(driver().mem_release(handle.0), Ok(()), "gives back what was retained");
    let unmapped = driver().mem_retain_allocation_handle(at(addresses.ptr, GRANULE.get()));
    assert_eq!(unmapped, refused(CuResult::INVALID_VALUE));
}

pub fn the_cpu_reaches_memory_of_the_host_by_rights_of_its_own() {
    let _context = Current::new();
    let (driver, host) = (driver(), Location::host_numa(0));
    let prop = AllocationProp { location: host, ..SHAREABLE };
    let handle = driver.mem_create(GRANULE, &prop, 0).expect("memory of the host");
    let memory = Mapped::of(Held(handle), GRANULE);
    let reads = |ptr| {
        let mut byte = [0];
        driver.host_read(&mut byte, ptr).map(|()| byte[0])
    };
    let grant = |flags| driver.mem_set_access(memory.ptr, GRANULE, &[AccessDesc { location: host, flags }]);

    assert_eq!(driver.memset_d8(memory.ptr, 7, GRANULE), Ok(()));
    assert_eq!(driver.ctx_synchronize(), Ok(()));
    assert_eq!(reads(memory.ptr), refused(CuResult::ILLEGAL_ADDRESS), "the device's rights are not the host's");
    assert_eq!(grant(AccessFlags::READ), Ok(()));
    assert_eq!(reads(memory.ptr), Ok(7));
    assert_eq!(driver.host_write(memory.ptr, &[8]), refused(CuResult::ILLEGAL_ADDRESS));
    assert_eq!(grant(AccessFlags::READWRITE), Ok(()));
    assert_eq!(driver.host_write(memory.ptr, &[8]), Ok(()));
    assert_eq!(read(memory.ptr, ByteSize::new(2)), [8, 7]);
    let of_device = Mapped::new(GRANULE);
    assert_eq!(reads(of_device.ptr), refused(CuResult::ILLEGAL_ADDRESS));
}
