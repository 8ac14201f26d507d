//! Checks that are turned on.

use peermap_driver::{
    AccessDesc, ByteSize, DevicePtr, Dim3, Driver, DriverError, JitOptions, KernelArg, LaunchConfig, Stream,
};
use peermap_model::Profile;
use peermap_sim::{Check, Checks, MachineOptions, SimMachine, SimProcess};

use crate::support::{GRANULE, create, export, import, in_context, machine, map, mapped, offset, read, reserve};

/// Each of 64 threads adds what lies at its place of the second argument to its place of the first, four bytes each.
const ADD: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 to, .param .u64 from) {
.reg .u32 %t, %x, %y; .reg .u64 %to, %from, %w;
ld.param.u64 %to, [to]; ld.param.u64 %from, [from]; mov.u32 %t, %tid.x; mul.wide.u32 %w, %t, 4;
add.u64 %to, %to, %w; add.u64 %from, %from, %w;
ld.global.u32 %x, [%from]; ld.global.u32 %y, [%to]; add.u32 %x, %x, %y; st.global.u32 [%to], %x;
ret; }";

/// Where each thread reads from the second argument.
const READ: u32 = 8;

fn checked(checks: Checks) -> SimMachine {
    let options = MachineOptions { checks, ..MachineOptions::default() };
    SimMachine::new(Profile::named("h200-x2").unwrap(), options).unwrap()
}

fn only(check: Check) -> SimMachine {
    checked(Checks::NONE.with(check))
}

fn add(process: &SimProcess, to: DevicePtr, from: DevicePtr) -> Result<(), DriverError> {
    let module = process.module_load_data_ex(ADD.as_bytes(), &mut JitOptions::default()).unwrap();
    let function = process.module_get_function(module, "add").unwrap();
    let (grid, block) = (Dim3::x(1), Dim3::x(64));
    let config = LaunchConfig { function, grid, block, shared_bytes: ByteSize::ZERO, stream: Stream::NULL };
    // SAFETY: the simulator checks the arguments against the kernel's parameters.
    unsafe { process.launch_kernel(&config, &[KernelArg::Ptr(to), KernelArg::Ptr(from)]) }.unwrap();
    process.ctx_synchronize()
}

/// What a check found.
fn found(answer: Result<(), DriverError>) -> String {
    let error = answer.unwrap_err();
    assert_eq!((error.result(), error.rule()), (None, None), "it is no answer of a driver");
    let DriverError::Finding { what } = error else { panic!("{error}") };
    what
}

/// Two mappings whose addresses follow one another, though they were reserved apart.
fn neighbours(process: &SimProcess) -> [DevicePtr; 2] {
    let pair = [0; 2].map(|_| mapped(process, GRANULE).1);
    assert_eq!(offset(pair[0], GRANULE.get()), pair[1]);
    pair.iter().for_each(|ptr| process.memset_d8(*ptr, 1, GRANULE).unwrap());
    pair
}

#[test]
fn without_checks_nothing_is_found() {
    let process = in_context(&machine());
    let [first, second] = neighbours(&process);
    add(&process, offset(first, GRANULE.get() - 8), mapped(&process, GRANULE).1).unwrap();
    assert_eq!(read(&process, second, 1), [1]);
}

#[test]
fn memory_that_nobody_wrote_is_found_and_the_process_is_at_its_end() {
    let process = in_context(&only(Check::Uninitialised));
    let ([to, from], second) = ([0; 2].map(|_| mapped(&process, GRANULE).1), 4);
    process.memset_d8(to, 1, GRANULE).unwrap();
    process.memset_d8(from, 1, ByteSize::new(second)).unwrap();
    let what = found(add(&process, to, from));
    let expected = format!(
        "kernel \"add\", block [0, 0, 0], thread [1, 0, 0], line {READ} of the PTX: read at {}, \
         which nothing has ever written",
        offset(from, second)
    );
    assert_eq!(what, expected);
    assert_eq!(found(process.ctx_synchronize()), expected);
    assert_eq!(found(process.memset_d8(from, 1, GRANULE)), expected);
    assert_eq!(found(process.mem_unmap(from, GRANULE)), expected);
}

#[test]
fn host_and_copies_write_and_a_copy_of_nothing_is_nothing() {
    let process = in_context(&only(Check::Uninitialised));
    let [to, from, third] = [0; 3].map(|_| mapped(&process, GRANULE).1);
    process.memcpy_htod(to, &[1; 256]).unwrap();
    process.memcpy_dtod(from, to, ByteSize::new(256)).unwrap();
    add(&process, to, from).unwrap();
    assert_eq!(read(&process, to, 2), [2, 2]);
    process.memcpy_dtod(from, third, ByteSize::new(256)).unwrap();
    assert!(found(add(&process, to, from)).contains("which nothing has ever written"));
}

#[test]
fn what_another_process_wrote_is_written_and_freed_memory_is_not() {
    let machine = only(Check::Uninitialised);
    let (process, other) = (in_context(&machine), in_context(&machine));
    let handle = create(&other, 0, GRANULE);
    let theirs = map(&other, handle, GRANULE);
    let seen = map(&process, import(&process, &export(&other, handle)).unwrap(), GRANULE);
    other.memset_d8(theirs, 3, GRANULE).unwrap();
    other.ctx_synchronize().unwrap();
    add(&process, seen, seen).unwrap();
    let (own, ptr) = mapped(&process, GRANULE);
    process.memset_d8(ptr, 1, GRANULE).unwrap();
    process.ctx_synchronize().unwrap();
    process.mem_unmap(ptr, GRANULE).unwrap();
    process.mem_release(own).unwrap();
    let fresh = mapped(&process, GRANULE).1;
    found(add(&process, seen, fresh));
}

#[test]
fn a_buffer_ends_where_its_neighbour_begins() {
    let process = in_context(&only(Check::Bounds));
    let [first, second] = neighbours(&process);
    let what = found(add(&process, second, offset(first, GRANULE.get() - 8)));
    let expected = format!(
        "read at {second}, outside the 2097152 bytes from {first} on, the buffer of argument 1 ({}), \
         in the 2097152 bytes from {second} on",
        offset(first, GRANULE.get() - 8)
    );
    assert!(what.contains("thread [2, 0, 0]") && what.ends_with(&expected), "{what}");
}

#[test]
fn ranges_side_by_side_are_one_buffer_if_they_were_reserved_as_one_or_one_behind_the_other() {
    let process = in_context(&only(Check::Bounds));
    let whole = reserve(&process, ByteSize::mib(4));
    let behind = process.mem_address_reserve(GRANULE, ByteSize::ZERO, offset(whole, 4 << 20), 0).unwrap();
    assert_eq!(behind, offset(whole, 4 << 20));
    for part in 0..3 {
        let ptr = offset(whole, part * GRANULE.get());
        process.mem_map(ptr, GRANULE, ByteSize::ZERO, create(&process, 0, GRANULE), 0).unwrap();
        process.mem_set_access(ptr, GRANULE, &[AccessDesc::read_write(0)]).unwrap();
    }
    for border in [1, 2] {
        add(&process, whole, offset(whole, border * GRANULE.get() - 8)).unwrap();
    }
    let other = mapped(&process, GRANULE).1;
    assert_eq!(other, offset(behind, GRANULE.get()));
    found(add(&process, whole, offset(whole, 3 * GRANULE.get() - 8)));
}

#[test]
fn allocations_end_where_they_were_asked_to_end() {
    for pooled in [false, true] {
        let process = in_context(&only(Check::Bounds));
        let size = ByteSize::new(1000);
        let allocate = || match pooled {
            true => process.mem_alloc_async(size, Stream::NULL).unwrap(),
            false => process.mem_alloc(size).unwrap(),
        };
        let [first, second] = [allocate(), allocate()];
        add(&process, second, first).unwrap();
        let what = found(add(&process, second, offset(first, 800)));
        assert!(what.contains(&format!("outside the 1000 bytes from {first} on")), "{what}");
    }
}

#[test]
fn races_and_aliases_are_found_in_launches_too() {
    let process = in_context(&only(Check::Races));
    let ptr = mapped(&process, GRANULE).1;
    add(&process, ptr, ptr).unwrap();
    let process = in_context(&only(Check::Aliases));
    let (handle, ptr) = mapped(&process, GRANULE);
    let alias = map(&process, handle, GRANULE);
    add(&process, ptr, alias).unwrap();
    add(&process, ptr, ptr).unwrap();
}
