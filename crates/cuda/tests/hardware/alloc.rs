//! Memory of `cuMemAlloc`, and what an address points to.

use peermap_driver::{AccessDesc, ByteSize, CuResult, DevicePtr, Driver, PointerAttribute};

use crate::rig::{Allocated, Current, DEVICE, GRANULE, Held, Mapped, Reserved, at, driver, refused};

/// The value of `CU_MEMORYTYPE_DEVICE`.
const MEMORY_TYPE_DEVICE: u64 = 2;

/// Trace vmm, address-range.
pub fn an_address_inside_an_allocation_leads_to_its_start() {
    let context = Current::new();
    let size = ByteSize::new(5000);
    let memory = Allocated::new(size);
    let base = memory.0;
    assert_eq!(driver().mem_get_address_range(at(base, 100)), Ok((base, size)));
    for (attribute, value) in [
        (PointerAttribute::RANGE_START_ADDR, base.get()),
        (PointerAttribute::RANGE_SIZE, size.get()),
        (PointerAttribute::DEVICE_POINTER, base.get()),
        (PointerAttribute::DEVICE_ORDINAL, 0),
        (PointerAttribute::MAPPED, 1),
        (PointerAttribute::MEMORY_TYPE, MEMORY_TYPE_DEVICE),
        (PointerAttribute::IS_LEGACY_CUDA_IPC_CAPABLE, 1),
        (PointerAttribute::IS_MANAGED, 0),
        (PointerAttribute::ALLOWED_HANDLE_TYPES, 0),
        (PointerAttribute::CONTEXT, context.0.as_raw()),
    ] {
        assert_eq!(driver().pointer_get_attribute(attribute, base), Ok(value), "{attribute}");
    }
}

/// Trace vmm, address-range.
pub fn an_address_inside_a_mapping_leads_to_its_start() {
    let _context = Current::new();
    let handle = Held::new(GRANULE);
    let reservation = ByteSize::mib(8);
    let addresses = Reserved::new(reservation);
    let second = at(addresses.ptr, GRANULE.get());
    assert_eq!(driver().mem_map(second, GRANULE, ByteSize::ZERO, handle.0, 0), Ok(()));
    assert_eq!(driver().mem_set_access(second, GRANULE, &[AccessDesc::read_write(DEVICE.0)]), Ok(()));
    let inside = at(second, 4096);
    assert_eq!(driver().mem_get_address_range(inside), Ok((second, GRANULE)));
    for (attribute, value) in [
        (PointerAttribute::RANGE_START_ADDR, addresses.ptr.get()),
        (PointerAttribute::RANGE_SIZE, reservation.get()),
        (PointerAttribute::MAPPED, 1),
        (PointerAttribute::MEMORY_TYPE, MEMORY_TYPE_DEVICE),
        (PointerAttribute::IS_LEGACY_CUDA_IPC_CAPABLE, 0),
        (PointerAttribute::ALLOWED_HANDLE_TYPES, 1),
        (PointerAttribute::IS_GPU_DIRECT_RDMA_CAPABLE, 0),
        (PointerAttribute::CONTEXT, 0),
    ] {
        assert_eq!(driver().pointer_get_attribute(attribute, inside), Ok(value), "{attribute}");
    }

    let unmapped = at(second, GRANULE.get());
    assert_eq!(driver().mem_get_address_range(unmapped), refused(CuResult::NOT_FOUND));
    let nothing = driver().pointer_get_attribute(PointerAttribute::RANGE_SIZE, unmapped);
    assert_eq!(nothing, refused(CuResult::INVALID_VALUE));
}

/// Trace vmm, malloc-on-vmm-calls.
pub fn sizes_and_addresses_that_the_driver_refuses() {
    let _context = Current::new();
    let mapped = Mapped::new(GRANULE);
    let driver = driver();
    assert_eq!(driver.mem_alloc(ByteSize::ZERO), refused(CuResult::INVALID_VALUE));
    assert_eq!(driver.mem_alloc(ByteSize::gib(1 << 15)), refused(CuResult::OUT_OF_MEMORY));
    let ptr = driver.mem_alloc(GRANULE).expect("memory");
    assert_eq!(driver.mem_free(at(ptr, 4096)), refused(CuResult::INVALID_VALUE));
    assert_eq!(driver.mem_free(mapped.ptr), refused(CuResult::INVALID_VALUE));
    assert_eq!(driver.mem_free(ptr), Ok(()));
    assert_eq!(driver.mem_free(ptr), refused(CuResult::INVALID_VALUE));
    assert_eq!(driver.mem_free(DevicePtr::NULL), Ok(()));
}

pub fn free_memory_is_part_of_the_total() {
    let _context = Current::new();
    let info = driver().mem_get_info().expect("sizes");
    assert!(info.free > ByteSize::ZERO && info.free < info.total, "{info:?}");
    assert!(info.total <= driver().device_total_mem(DEVICE).expect("a size"), "{info:?}");
}
