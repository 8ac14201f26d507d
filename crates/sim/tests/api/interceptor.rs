//! Faults put in from outside: a refused call never reaches the driver.

use std::sync::atomic::{AtomicU32, Ordering};

use mockall::mock;
use mockall::predicate::{always, eq};
use peermap_driver::{
    AllocationProp, ByteSize, Call, CuResult, Driver, DriverError, HandleType, Intercepted, Interceptor, Value,
};

use crate::support::{GRANULE, create, machine, map, process};

mock! {
    Fault {}

    impl Interceptor for Fault {
        fn before<'a>(
            &self,
            call: Call,
            arguments: &'a dyn Fn() -> Vec<(&'static str, Value)>,
        ) -> Result<(), DriverError>;
        fn after<'a>(&self, call: Call, error: Option<&'a DriverError>);
    }
}

/// Refuses call `n`, counted from 1, with a code.
fn failing(n: u32, code: CuResult) -> MockFault {
    let mut mock = MockFault::new();
    let calls = AtomicU32::new(0);
    mock.expect_before().returning(move |_, _| {
        let number = calls.fetch_add(1, Ordering::Relaxed) + 1;
        if number == n { Err(DriverError::refused(code)) } else { Ok(()) }
    });
    mock.expect_after().return_const(());
    mock
}

/// Create, reserve, map and set access, as far as it goes; how it ended.
fn share(driver: &dyn Driver) -> Result<(), DriverError> {
    let prop = AllocationProp::pinned_on(0, HandleType::POSIX_FILE_DESCRIPTOR);
    let handle = driver.mem_create(GRANULE, &prop, 0)?;
    let ptr = driver.mem_address_reserve(GRANULE, ByteSize::ZERO, peermap_driver::DevicePtr::NULL, 0)?;
    driver.mem_map(ptr, GRANULE, ByteSize::ZERO, handle, 0)?;
    driver.mem_set_access(ptr, GRANULE, &[peermap_driver::AccessDesc::read_write(0)])?;
    driver.mem_export_to_shareable_handle(handle, HandleType::POSIX_FILE_DESCRIPTOR, 0).map(|_| ())
}

#[test]
fn the_call_that_fails_changes_nothing() {
    let machine = machine();
    let process = process(&machine);
    let (handle, ptr) = {
        let handle = create(&process, 0, GRANULE);
        (handle, map(&process, handle, GRANULE))
    };
    let before = machine.holders().unwrap();
    let driver = Intercepted::new(process.clone(), failing(1, CuResult::OUT_OF_MEMORY));
    assert_eq!(driver.mem_unmap(ptr, GRANULE), Err(DriverError::refused(CuResult::OUT_OF_MEMORY)));
    assert_eq!(machine.holders().unwrap(), before);
    assert!(process.mem_get_access(ptr, peermap_driver::Location::device(0)).is_ok(), "it is still mapped");
    driver.mem_release(handle).unwrap();
    assert_ne!(machine.holders().unwrap(), before, "the next call arrives");
}

#[test]
fn a_fault_at_any_call_of_a_sequence_leaves_what_came_before() {
    for (n, allocations) in [(1, 0), (2, 1), (3, 1), (4, 1), (5, 1)] {
        let machine = machine();
        let driver = Intercepted::new(process(&machine), failing(n, CuResult::UNKNOWN));
        assert_eq!(share(&driver), Err(DriverError::refused(CuResult::UNKNOWN)), "call {n}");
        let holders = machine.holders().unwrap().0;
        assert_eq!(holders.len(), allocations, "call {n}");
        assert!(holders.iter().all(|line| line.descriptors.is_empty()), "call {n}");
    }
    let driver = Intercepted::new(process(&machine()), failing(6, CuResult::UNKNOWN));
    assert_eq!(share(&driver), Ok(()), "there is no sixth call");
}

#[test]
fn the_interceptor_sees_calls_arguments_and_errors() {
    let mut mock = MockFault::new();
    mock.expect_before().with(eq(Call::cuMemUnmap), always()).times(1).returning(|_, arguments| {
        assert_eq!(arguments(), [("ptr", Value::Address(0x1000)), ("size", Value::Bytes(2 << 20))]);
        Ok(())
    });
    mock.expect_after()
        .withf(|call, error| *call == Call::cuMemUnmap && error.unwrap().rule().unwrap().0 == "UNMAP-2")
        .times(1)
        .return_const(());
    let driver = Intercepted::new(process(&machine()), mock);
    assert!(driver.mem_unmap(peermap_driver::DevicePtr::new(0x1000), GRANULE).is_err());
}
