//! Kernels, modules, occupancy.

use peermap_driver::{
    AccessDesc, AccessFlags, ByteSize, CuResult, DevicePtr, Dim3, Driver, DriverError, Function, JitOptions, KernelArg,
    LaunchConfig, Location, Stream, Value,
};
use peermap_sim::SimProcess;

use crate::support::{GRANULE, a_kernel_of_registers, in_context, machine, mapped, offset, read, refusal, rule};

const KERNELS: &str = include_str!("../../../../kernels/memmap_ipc.ptx");

fn function(process: &SimProcess, text: &str, name: &str) -> Function {
    let module = process.module_load_data_ex(text.as_bytes(), &mut JitOptions::default()).unwrap();
    process.module_get_function(module, name).unwrap()
}

fn shape(function: Function, grid: Dim3, block: Dim3) -> LaunchConfig {
    LaunchConfig { function, grid, block, shared_bytes: ByteSize::ZERO, stream: Stream::NULL }
}

fn launch(process: &SimProcess, function: Function, args: &[KernelArg]) -> Result<(), DriverError> {
    // SAFETY: the simulator checks the arguments against the kernel's parameters.
    unsafe { process.launch_kernel(&shape(function, Dim3::x(64), Dim3::x(128)), args) }
}

fn ready() -> (SimProcess, DevicePtr) {
    let process = in_context(&machine());
    let (_, ptr) = mapped(&process, GRANULE);
    (process, ptr)
}

/// The two counters of a verification.
fn verdict(process: &SimProcess, result: DevicePtr) -> (u64, u64) {
    let bytes = read(process, result, 16);
    let word = |from| u64::from_le_bytes(bytes[from..from + 8].try_into().unwrap());
    (word(0), word(8))
}

fn fresh_result(process: &SimProcess) -> DevicePtr {
    let (_, result) = mapped(process, GRANULE);
    process.memcpy_htod(offset(result, 8), &u64::MAX.to_le_bytes()).unwrap();
    result
}

#[test]
fn what_was_filled_verifies_and_one_wrong_byte_is_found() {
    let (process, ptr) = ready();
    let len = KernelArg::U64(100_000);
    let result = fresh_result(&process);
    let fill = function(&process, KERNELS, "fill_id");
    let verify = function(&process, KERNELS, "verify_id");
    launch(&process, fill, &[KernelArg::Ptr(ptr), len.clone(), KernelArg::U8(7)]).unwrap();
    let check = [KernelArg::Ptr(ptr), len, KernelArg::U8(7), KernelArg::Ptr(result)];
    launch(&process, verify, &check).unwrap();
    assert_eq!(verdict(&process, result), (0, u64::MAX));
    process.memcpy_htod(offset(ptr, 70_001), &[8]).unwrap();
    launch(&process, verify, &check).unwrap();
    assert_eq!(verdict(&process, result), (1, 70_001));
    assert_eq!(read(&process, offset(ptr, 99_999), 2), [7, 0], "not a byte beyond the length");
}

#[test]
fn a_pattern_verifies_for_its_worker_and_step_only() {
    let (process, ptr) = ready();
    let len = 64 << 10;
    let pattern =
        |worker, step| [KernelArg::Ptr(ptr), KernelArg::U64(len), KernelArg::U32(worker), KernelArg::U32(step)];
    let fill = function(&process, KERNELS, "fill_pattern");
    let verify = function(&process, KERNELS, "verify_pattern");
    launch(&process, fill, &pattern(3, 7)).unwrap();
    for (worker, step, matches) in [(3, 7, true), (3, 8, false), (4, 7, false)] {
        let result = fresh_result(&process);
        let args: Vec<_> = pattern(worker, step).into_iter().chain([KernelArg::Ptr(result)]).collect();
        launch(&process, verify, &args).unwrap();
        assert_eq!(verdict(&process, result).0 == 0, matches, "worker {worker}, step {step}");
    }
}

#[test]
fn a_store_without_the_right_faults_at_its_exact_address() {
    for (rights, at) in [(AccessFlags::READWRITE, GRANULE.get()), (AccessFlags::READ, 0), (AccessFlags::NONE, 0)] {
        let (process, ptr) = ready();
        let desc = AccessDesc { location: Location::device(0), flags: rights };
        process.mem_set_access(ptr, GRANULE, &[desc]).unwrap();
        let fill = function(&process, KERNELS, "fill_byte");
        launch(&process, fill, &[KernelArg::Ptr(ptr), KernelArg::U64(4 << 20), KernelArg::U8(1)]).unwrap();
        let error = process.ctx_synchronize().unwrap_err();
        assert_eq!(error.result(), Some(CuResult::ILLEGAL_ADDRESS), "{rights}");
        let explanation = error.explanation().unwrap();
        assert_eq!(explanation.rule.0, "FAULT-1");
        assert_eq!(explanation.facts[0], ("address", Value::Address(ptr.get() + at)), "{rights}");
    }
}

#[test]
fn a_load_with_the_right_to_read_works() {
    let (process, ptr) = ready();
    let desc = AccessDesc { location: Location::device(0), flags: AccessFlags::READ };
    process.mem_set_access(ptr, GRANULE, &[desc]).unwrap();
    let result = fresh_result(&process);
    let verify = function(&process, KERNELS, "verify_id");
    let args = [KernelArg::Ptr(ptr), KernelArg::U64(64), KernelArg::U8(0), KernelArg::Ptr(result)];
    launch(&process, verify, &args).unwrap();
    assert_eq!(verdict(&process, result).0, 0);
}

#[test]
fn a_fault_of_a_kernel_is_seen_by_whoever_waits_first() {
    let (process, _) = ready();
    let fill = function(&process, KERNELS, "fill_byte");
    launch(&process, fill, &[KernelArg::Ptr(DevicePtr::new(0x1000)), KernelArg::U64(1), KernelArg::U8(1)]).unwrap();
    assert_eq!(rule(process.stream_synchronize(Stream::NULL)), "FAULT-1");
    assert_eq!(rule(launch(&process, fill, &[])), "FAULT-1", "no launch after that");
}

#[test]
fn code_of_ones_own_runs() {
    let (process, ptr) = ready();
    let changed = KERNELS.replacen("st.global.u8 \t[%rd12], %rs1;", "st.global.u8 \t[%rd12], 9;", 1);
    assert_ne!(changed, KERNELS, "the first kernel stores bytes");
    let fill = function(&process, &changed, "fill_byte");
    launch(&process, fill, &[KernelArg::Ptr(ptr), KernelArg::U64(3), KernelArg::U8(1)]).unwrap();
    process.ctx_synchronize().unwrap();
    assert_eq!(read(&process, ptr, 4), [9, 9, 9, 0]);
}

#[test]
fn code_that_is_not_covered_ends_the_load_with_its_line() {
    let (process, _) = ready();
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry own()\n{\n.reg .u32 %c;\nmov.u32 %c, %pm0;\nret;\n}\n";
    let error = process.module_load_data_ex(text.as_bytes(), &mut JitOptions::default()).unwrap_err();
    assert!(matches!(error, DriverError::NotModelled { .. }) && error.to_string().contains("line 7"), "{error}");
}

#[test]
fn the_explanation_of_a_fault_names_kernel_block_thread_and_line() {
    let (process, ptr) = ready();
    let fill = function(&process, KERNELS, "fill_byte");
    let start = offset(ptr, GRANULE.get() - 130);
    launch(&process, fill, &[KernelArg::Ptr(start), KernelArg::U64(131), KernelArg::U8(1)]).unwrap();
    let error = process.ctx_synchronize().unwrap_err();
    let line = 1 + KERNELS.lines().position(|line| line.contains("[%rd12], %rs1")).unwrap();
    let what = format!("kernel \"fill_byte\", block [1, 0, 0], thread [2, 0, 0], line {line} of the PTX: write at");
    assert!(format!("{error:?}").contains(&format!("{what:?}")[1..what.len()]), "{error:?}");
}

#[test]
fn each_end_of_a_launch_has_its_result() {
    let trap = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry own()\n{\ntrap;\n}\n";
    let (process, ptr) = ready();
    launch(&process, function(&process, trap, "own"), &[]).unwrap();
    assert_eq!(process.ctx_synchronize().unwrap_err().result(), Some(CuResult::LAUNCH_FAILED));
    let (process, other) = ready();
    let fill = function(&process, KERNELS, "fill_id");
    assert_ne!(ptr, DevicePtr::NULL);
    launch(&process, fill, &[KernelArg::Ptr(offset(other, 8)), KernelArg::U64(64), KernelArg::U8(1)]).unwrap();
    assert_eq!(process.ctx_synchronize().unwrap_err().result(), Some(CuResult::MISALIGNED_ADDRESS));
}

#[test]
fn arguments_that_do_not_fit_are_not_modelled() {
    let (process, ptr) = ready();
    let fill = function(&process, KERNELS, "fill_byte");
    let right = [KernelArg::Ptr(ptr), KernelArg::U64(64), KernelArg::U8(1)];
    let wrong_size = [KernelArg::Ptr(ptr), KernelArg::U32(64), KernelArg::U8(1)];
    for (args, says) in
        [(&right[..2], "2 arguments"), (&wrong_size[..], "argument 1 has 4 bytes"), (&[], "0 arguments")]
    {
        let error = launch(&process, fill, args).unwrap_err();
        assert!(matches!(error, DriverError::NotModelled { .. }) && error.to_string().contains(says), "{error}");
    }
    launch(&process, fill, &right).unwrap();
    assert_eq!(process.ctx_synchronize(), Ok(()));
}

#[test]
fn a_cubin_and_a_fat_binary_are_not_modelled_and_junk_is_no_image() {
    let (process, _) = ready();
    let load = |image: &[u8]| process.module_load_data_ex(image, &mut JitOptions::default());
    let cubin = load(b"\x7fELF\x02\x01\x01 and more of it, as much as a header has at least: 64 bytes").unwrap_err();
    assert!(matches!(cubin, DriverError::NotModelled { .. }), "{cubin}");
    let fat = load(&[0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap_err();
    assert!(matches!(fat, DriverError::NotModelled { .. }), "{fat}");
    assert_eq!(refusal(load(b"\x00\x01\x02\x03")), ("MODULE-3", Some(CuResult::INVALID_IMAGE)));
}

#[test]
fn a_module_that_is_unloaded_is_gone_after_its_work() {
    let (process, ptr) = ready();
    let module = process.module_load_data_ex(KERNELS.as_bytes(), &mut JitOptions::sample()).unwrap();
    let fill = process.module_get_function(module, "fill_byte").unwrap();
    assert_eq!(process.module_get_function(module, "fill_byte"), Ok(fill));
    assert_eq!(refusal(process.module_get_function(module, "none")), ("MODULE-5", Some(CuResult::NOT_FOUND)));
    launch(&process, fill, &[KernelArg::Ptr(ptr), KernelArg::U64(8), KernelArg::U8(4)]).unwrap();
    process.module_unload(module).unwrap();
    assert_eq!(process.stream_query(Stream::NULL), Ok(()), "unloading waits");
    assert_eq!(read(&process, ptr, 9), [4, 4, 4, 4, 4, 4, 4, 4, 0]);
    assert_eq!(rule(launch(&process, fill, &[])), "MODULE-4");
    assert_eq!(rule(process.module_get_function(module, "fill_byte")), "MODULE-4");
    assert_eq!(rule(process.module_unload(module)), "MODULE-4");
}

#[test]
fn the_shape_of_a_launch_has_limits() {
    let (process, ptr) = ready();
    let fill = function(&process, KERNELS, "fill_byte");
    let args = [KernelArg::Ptr(ptr), KernelArg::U64(8), KernelArg::U8(4)];
    let one = Dim3::x(1);
    let header = ".version 8.0\n.target sm_90\n.address_size 64\n";
    let square = ".entry square(.param .u64 p, .param .u64 q, .param .u8 r) .reqntid 8, 8 { ret; }";
    let square = function(&process, &format!("{header}{square}"), "square");
    let greedy = function(&process, &format!("{header}{}", a_kernel_of_registers(100)), "greedy");
    for (config, refused_by) in [
        (shape(fill, one, Dim3::x(0)), "LAUNCH-1"),
        (shape(fill, one, Dim3::x(1025)), "LAUNCH-1"),
        (shape(fill, one, Dim3 { x: 32, y: 33, z: 1 }), "LAUNCH-1"),
        (shape(fill, one, Dim3 { x: 1, y: 1, z: 65 }), "LAUNCH-1"),
        (shape(fill, Dim3::x(0), one), "LAUNCH-2"),
        (shape(fill, Dim3 { x: 1, y: 65_536, z: 1 }, one), "LAUNCH-2"),
        (LaunchConfig { shared_bytes: ByteSize::mib(1), ..shape(fill, one, one) }, "LAUNCH-3"),
        (shape(square, one, Dim3::x(64)), "LAUNCH-5"),
    ] {
        // SAFETY: the arguments are those that the kernel declares.
        let answer = unsafe { process.launch_kernel(&config, &args) };
        assert_eq!(refusal(answer), (refused_by, Some(CuResult::INVALID_VALUE)), "{config:?}");
    }
    for config in [shape(fill, one, Dim3::x(1024)), shape(square, one, Dim3 { x: 8, y: 8, z: 1 })] {
        // SAFETY: as above.
        unsafe { process.launch_kernel(&config, &args) }.unwrap();
    }
    let args = [KernelArg::Ptr(ptr)];
    // SAFETY: as above.
    let answer = unsafe { process.launch_kernel(&shape(greedy, one, Dim3::x(513)), &args) };
    assert_eq!(refusal(answer), ("LAUNCH-4", Some(CuResult::LAUNCH_OUT_OF_RESOURCES)));
    // SAFETY: as above.
    unsafe { process.launch_kernel(&shape(greedy, one, Dim3::x(512)), &args) }.unwrap();
}
