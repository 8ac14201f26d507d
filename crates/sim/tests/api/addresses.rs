//! Addresses are given out once, mappings that hang over their reservation included.

use peermap_driver::{AccessDesc, ByteSize, DevicePtr, Driver};
use peermap_model::{Grace, Policy};
use peermap_sim::SimProcess;

use crate::support::{GRANULE, create, in_context, machine_with, offset, read, reserve, rule};

const LARGE: ByteSize = ByteSize::mib(4);

/// A process for each way to choose addresses.
fn processes() -> impl Iterator<Item = SimProcess> {
    let policies = [Policy::Measured, Policy::Hostile { seed: 1 }];
    policies.into_iter().map(|policy| in_context(&machine_with(policy, Grace::Never)))
}

/// A mapping of 4 MiB in a reservation of 2 MiB.
fn overhang(process: &SimProcess) -> DevicePtr {
    let ptr = reserve(process, GRANULE);
    process.mem_map(ptr, LARGE, ByteSize::ZERO, create(process, 0, LARGE), 0).unwrap();
    process.mem_set_access(ptr, LARGE, &[AccessDesc::read_write(0)]).unwrap();
    ptr
}

#[test]
fn allocations_lie_where_no_mapping_hangs_over() {
    for process in processes() {
        let mapped = overhang(&process);
        let allocated = process.mem_alloc(GRANULE).unwrap();
        process.memset_d8(mapped, 1, LARGE).unwrap();
        process.memset_d8(allocated, 2, GRANULE).unwrap();
        assert_eq!(read(&process, offset(mapped, GRANULE.get()), 1), [1]);
        process.mem_unmap(mapped, LARGE).unwrap();
        assert_eq!(read(&process, allocated, 1), [2]);
    }
}

#[test]
fn a_mapping_cannot_hang_over_into_an_allocation() {
    for process in processes() {
        let ptr = reserve(&process, GRANULE);
        let allocated = process.mem_alloc(GRANULE).unwrap();
        assert_eq!(allocated, offset(ptr, GRANULE.get()), "else this tests nothing");
        let handle = create(&process, 0, LARGE);
        assert_eq!(rule(process.mem_map(ptr, LARGE, ByteSize::ZERO, handle, 0)), "MAP-8");
        assert_eq!(read(&process, allocated, 1), [0]);
    }
}

#[test]
fn a_reservation_may_be_handed_out_below_an_overhang_and_takes_no_mapping_there() {
    let process = processes().next().unwrap();
    let mapped = overhang(&process);
    let below = offset(mapped, GRANULE.get());
    let reserved = process.mem_address_reserve(GRANULE, ByteSize::ZERO, below, 0).unwrap();
    assert_eq!(reserved, below);
    let handle = create(&process, 0, GRANULE);
    assert_eq!(rule(process.mem_map(reserved, GRANULE, ByteSize::ZERO, handle, 0)), "MAP-8");
    assert_eq!(rule(process.mem_address_free(reserved, GRANULE)), "FREE-2");
    process.mem_unmap(mapped, LARGE).unwrap();
    process.mem_address_free(reserved, GRANULE).unwrap();
}
