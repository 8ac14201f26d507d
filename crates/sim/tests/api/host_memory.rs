//! A host that cannot back simulated memory.

use peermap_driver::{ByteSize, Device, Driver, DriverError};
use peermap_model::{Grace, Profile};
use peermap_sim::{MachineOptions, SimMachine};

use crate::support::{GRANULE, create, in_context, map, mapped, read, rule};

fn machine(host_memory: ByteSize) -> SimMachine {
    let options = MachineOptions { host_memory: Some(host_memory), grace: Grace::Never, ..MachineOptions::default() };
    SimMachine::new(Profile::named("h200-x2").unwrap(), options).unwrap()
}

fn is_host(error: &DriverError) -> bool {
    matches!(error, DriverError::Host { .. })
}

#[test]
fn memory_that_was_never_written_costs_nothing() {
    let machine = machine(ByteSize::mib(4));
    let process = in_context(&machine);
    let size = ByteSize::mib(64);
    let ptr = map(&process, create(&process, 0, size), size);
    let copy = map(&process, create(&process, 0, size), size);
    assert_eq!(read(&process, ptr, 1 << 20), vec![0; 1 << 20]);
    assert_eq!(machine.host_memory_used(), ByteSize::ZERO);
    process.memset_d8(copy, 1, GRANULE).unwrap();
    process.ctx_synchronize().unwrap();
    assert_eq!(machine.host_memory_used(), GRANULE);
}

#[test]
fn a_write_beyond_the_budget_ends_the_simulation_of_the_process() {
    let machine = machine(ByteSize::mib(4));
    let process = in_context(&machine);
    let size = ByteSize::mib(6);
    let ptr = map(&process, create(&process, 0, size), size);
    process.memset_d8(ptr, 1, size).unwrap();
    let error = process.ctx_synchronize().unwrap_err();
    assert!(is_host(&error) && error.to_string().contains("host"), "{error}");
    assert_eq!(process.ctx_synchronize(), Err(error.clone()), "and it says so ever after");
    assert_eq!(
        process.mem_create(size, &peermap_driver::AllocationProp::pinned_on(0, peermap_driver::HandleType::NONE), 0),
        Err(error.clone())
    );
    assert_eq!(process.device_get_count(), Err(error.clone()));
    assert_eq!(process.thread(3).ctx_create(0, Device(0)), Err(error));
}

#[test]
fn a_copy_from_the_host_ends_the_same_way() {
    let process = in_context(&machine(ByteSize::mib(2)));
    let size = ByteSize::mib(4);
    let ptr = map(&process, create(&process, 0, size), size);
    let error = process.memcpy_htod(ptr, &vec![7; 4 << 20]).unwrap_err();
    assert!(is_host(&error), "{error}");
    assert_eq!(process.memcpy_htod(ptr, &[1]), Err(error));
}

#[test]
fn work_behind_the_write_that_failed_never_runs() {
    let machine = machine(ByteSize::mib(2));
    let process = in_context(&machine);
    let size = ByteSize::mib(4);
    let ptr = map(&process, create(&process, 0, size), size);
    process.memset_d8(ptr, 1, size).unwrap();
    let error = process.memcpy_htod(ptr, &[9; 16]).unwrap_err();
    assert!(is_host(&error), "{error}");
    let context = process.ctx_get_current().unwrap_err();
    assert_eq!(context, error);
}

#[test]
fn other_processes_go_on() {
    let machine = machine(ByteSize::mib(4));
    let (greedy, modest) = (in_context(&machine), in_context(&machine));
    let (_, ptr) = mapped(&modest, GRANULE);
    modest.memset_d8(ptr, 5, GRANULE).unwrap();
    modest.ctx_synchronize().unwrap();
    let size = ByteSize::mib(4);
    let large = map(&greedy, create(&greedy, 0, size), size);
    greedy.memset_d8(large, 1, size).unwrap();
    assert!(is_host(&greedy.ctx_synchronize().unwrap_err()));
    assert_eq!(read(&modest, ptr, 2), [5, 5]);
    drop(greedy);
    assert_eq!(machine.host_memory_used(), GRANULE, "what it took is given back");
    let more = mapped(&modest, GRANULE).1;
    modest.memset_d8(more, 6, GRANULE).unwrap();
    assert_eq!(modest.ctx_synchronize(), Ok(()));
}

#[test]
fn the_device_s_memory_is_another_limit() {
    let process = in_context(&machine(ByteSize::mib(4)));
    let total = process.device_total_mem(Device(0)).unwrap();
    let half = ByteSize::new(total.get() / 2 / GRANULE.get() * GRANULE.get());
    create(&process, 0, half);
    let too_much = half.checked_add(ByteSize::mib(4)).unwrap();
    let prop = peermap_driver::AllocationProp::pinned_on(0, peermap_driver::HandleType::NONE);
    assert_eq!(rule(process.mem_create(too_much, &prop, 0)), "CREATE-10");
    assert!(
        process
            .mem_create(too_much, &peermap_driver::AllocationProp::pinned_on(1, peermap_driver::HandleType::NONE), 0)
            .is_ok()
    );
}
