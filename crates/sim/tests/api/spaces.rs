//! Variables of modules, memory of blocks and threads, and what kernels print.

use std::sync::{Arc, Mutex};

use peermap_driver::{
    ByteSize, CuResult, DevicePtr, Dim3, Driver, DriverError, JitOptions, KernelArg, LaunchConfig, Module, Stream,
};
use peermap_sim::SimProcess;

use crate::support::{GRANULE, held_bytes, in_context, machine, mapped, offset, read, refusal};

/// A module with one kernel, whose 32 threads have `%t` and `%out`.
fn text(before: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n{before}
.visible .entry k(.param .u64 out) {{
.reg .u32 %t, %x<9>; .reg .u64 %out, %a, %b; .reg .pred %p;
ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
{body}
ret; }}"
    )
}

fn load(process: &SimProcess, text: &str) -> Module {
    process.module_load_data_ex(text.as_bytes(), &mut JitOptions::default()).unwrap()
}

fn run(process: &SimProcess, module: Module, out: DevicePtr) -> Result<(), DriverError> {
    let function = process.module_get_function(module, "k").unwrap();
    let (grid, block, shared_bytes) = (Dim3::x(2), Dim3::x(32), ByteSize::ZERO);
    let config = LaunchConfig { function, grid, block, shared_bytes, stream: Stream::NULL };
    // SAFETY: the simulator checks the arguments against the kernel's parameters.
    unsafe { process.launch_kernel(&config, &[KernelArg::Ptr(out)]) }?;
    process.ctx_synchronize()
}

fn ended(before: &str, body: &str) -> Option<CuResult> {
    let process = in_context(&machine());
    let (_, out) = mapped(&process, GRANULE);
    let module = load(&process, &text(before, body));
    run(&process, module, out).unwrap_err().result()
}

#[test]
fn the_host_and_kernels_share_the_variables_of_a_module() {
    let process = in_context(&machine());
    let (_, out) = mapped(&process, GRANULE);
    let before = ".const .u32 step = 3; .visible .global .align 4 .u32 sums[2] = {10, 20};";
    let body = "ld.const.u32 %x1, [step]; red.global.add.u32 [sums+4], %x1;";
    let module = load(&process, &text(before, body));
    let (sums, size) = process.module_get_global(module, "sums").unwrap();
    assert_eq!(size, ByteSize::new(8));
    assert_eq!(read(&process, sums, 8), [10, 0, 0, 0, 20, 0, 0, 0]);
    run(&process, module, out).unwrap();
    assert_eq!(read(&process, sums, 8), [10, 0, 0, 0, 212, 0, 0, 0]);
    let (step, _) = process.module_get_global(module, "step").unwrap();
    process.memcpy_htod(step, &[1, 0, 0, 0]).unwrap();
    process.memset_d8(sums, 0, size).unwrap();
    run(&process, module, out).unwrap();
    assert_eq!(read(&process, sums, 8), [0, 0, 0, 0, 64, 0, 0, 0]);
}

#[test]
fn each_load_has_variables_of_its_own_until_it_is_unloaded() {
    let machine = machine();
    let process = in_context(&machine);
    let (_, out) = mapped(&process, GRANULE);
    let text = text(".global .u32 count = 5;", "red.global.add.u32 [count], 1;");
    let before = held_bytes(&machine);
    let (first, second) = (load(&process, &text), load(&process, &text));
    assert_eq!(held_bytes(&machine), before + 2 * GRANULE.get());
    run(&process, first, out).unwrap();
    let count = |module| process.module_get_global(module, "count").unwrap().0;
    assert_eq!(
        (read(&process, count(first), 4), read(&process, count(second), 4)),
        (vec![69, 0, 0, 0], vec![5, 0, 0, 0])
    );
    let start = count(second);
    process.module_unload(second).unwrap();
    assert_eq!(held_bytes(&machine), before + GRANULE.get());
    assert_eq!(refusal(process.memcpy_dtoh(&mut [0; 4], start)).1, Some(CuResult::INVALID_VALUE));
    run(&process, first, out).unwrap();
    assert_eq!(read(&process, count(first), 4), [133, 0, 0, 0]);
}

#[test]
fn variables_are_no_memory_that_can_be_freed_and_have_names() {
    let process = in_context(&machine());
    let module = load(&process, &text(".global .u32 count;", ""));
    let (count, _) = process.module_get_global(module, "count").unwrap();
    assert_eq!(refusal(process.mem_free(count)), ("ALLOC-3", Some(CuResult::INVALID_VALUE)));
    assert_eq!(refusal(process.mem_free_async(count, Stream::NULL)), ("POOL-8", Some(CuResult::INVALID_VALUE)));
    assert_eq!(refusal(process.module_get_global(module, "counts")), ("MODULE-7", Some(CuResult::NOT_FOUND)));
    process.module_unload(module).unwrap();
    assert_eq!(refusal(process.module_get_global(module, "count")).0, "MODULE-4");
}

#[test]
fn blocks_have_shared_memory_of_their_own() {
    let process = in_context(&machine());
    let (_, out) = mapped(&process, GRANULE);
    let body = "mov.u32 %x1, %ctaid.x; mad.lo.u32 %x2, %x1, 32, %t; mul.wide.u32 %a, %x2, 4; add.u64 %a, %out, %a;
mov.u32 %x3, tile; mad.lo.u32 %x4, %t, 4, %x3; add.u32 %x5, %x2, 100; st.shared.u32 [%x4], %x5; bar.sync 0;
sub.u32 %x6, 31, %t; mad.lo.u32 %x6, %x6, 4, %x3; ld.shared.u32 %x7, [%x6]; st.global.u32 [%a], %x7;";
    let module = load(&process, &text(".shared .align 4 .b8 tile[128];", body));
    run(&process, module, out).unwrap();
    let expected = [100..132_u32, 132..164].into_iter().flat_map(|block| block.rev().flat_map(u32::to_le_bytes));
    assert_eq!(read(&process, out, 256), expected.collect::<Vec<u8>>());
}

#[test]
fn what_is_outside_the_memory_of_a_block_ends_the_launch() {
    let shared = ".shared .align 4 .b8 tile[128];";
    for (bytes, result) in [
        (128, CuResult::ILLEGAL_ADDRESS),
        (0x00FF_FBFC, CuResult::ILLEGAL_ADDRESS),
        (0x00FF_FC00, CuResult::ILLEGAL_INSTRUCTION),
    ] {
        let direct = format!("mov.u32 %x1, tile; add.u32 %x1, %x1, {bytes}; st.shared.u32 [%x1], 1;");
        assert_eq!(ended(shared, &direct), Some(result), "{bytes}");
        let generic = format!("mov.u64 %a, tile; cvta.shared.u64 %a, %a; add.u64 %a, %a, {bytes}; st.u32 [%a], 1;");
        assert_eq!(ended(shared, &generic), Some(result), "{bytes}");
    }
    let as_global = "mov.u64 %a, tile; cvta.shared.u64 %a, %a; st.global.u32 [%a], 1;";
    assert_eq!(ended(shared, as_global), Some(CuResult::INVALID_ADDRESS_SPACE));
    let local = ".local .align 4 .b8 own[8]; mov.u64 %a, own; cvta.local.u64 %a, %a; st.u32 [%a+65536], 1;";
    assert_eq!(ended("", local), Some(CuResult::ILLEGAL_ADDRESS));
}

const PRINT: &str = ".extern .func (.param .b32 res) vprintf(.param .b64 format, .param .b64 list);
.global .align 1 .b8 format[9] = {98,108,111,99,107,32,37,117,10};
.global .align 1 .b8 end = 0;";

#[test]
fn what_kernels_print_comes_when_they_have_ended() {
    let process = in_context(&machine());
    let (_, out) = mapped(&process, GRANULE);
    let texts = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&texts);
    process.print_with(move |text| kept.lock().unwrap().push(String::from_utf8(text.to_vec()).unwrap()));
    let body = ".local .u32 list; setp.eq.u32 %p, %t, 7; @!%p ret; mov.u32 %x1, %ctaid.x; st.local.u32 [list], %x1;
mov.u64 %a, format; cvta.global.u64 %a, %a; mov.u64 %b, list; cvta.local.u64 %b, %b; call (%x2), vprintf, (%a, %b);";
    let module = load(&process, &text(PRINT, body));
    run(&process, module, out).unwrap();
    run(&process, module, offset(out, 8)).unwrap();
    let once = "block 0\nblock 1\n".to_owned();
    assert_eq!(*texts.lock().unwrap(), [once.clone(), once]);
}

#[test]
fn an_assertion_that_fails_has_a_result_of_its_own() {
    let before =
        ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 message[2] = {120, 0};";
    let body = "mov.u64 %a, message; cvta.global.u64 %a, %a; call __assertfail, (%a, %a, 12, %a, 1);";
    assert_eq!(ended(before, body), Some(CuResult::ASSERT));
}

#[test]
fn variables_that_are_elsewhere_are_not_modelled() {
    let process = in_context(&machine());
    for (before, says) in [
        (".global .attribute(.managed) .u32 both;", "line 4: the managed variable \"both\" is not modelled"),
        (".extern .global .u32 other;", "line 4: \"other\", a variable of another module, is not modelled"),
    ] {
        let text = text(before, "");
        let error = process.module_load_data_ex(text.as_bytes(), &mut JitOptions::default()).unwrap_err();
        assert!(matches!(error, DriverError::NotModelled { .. }) && error.to_string().contains(says), "{error}");
    }
}
