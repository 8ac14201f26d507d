//! What the compiler of the driver refuses and says, and what a kernel takes of a multiprocessor.

use peermap_driver::{
    ByteSize, CuResult, Driver, DriverError, Function, FunctionAttribute, JitLog, JitOptions, Module,
};
use peermap_sim::SimProcess;

use crate::support::{in_context, machine, refusal, rule};

const KERNELS: &str = include_str!("../../../../kernels/memmap_ipc.ptx");

/// A kernel that says what it takes.
const MODEST: &str = ".version 8.0
.target sm_90
.address_size 64
.const .align 8 .b8 table[20];
.visible .entry modest() .maxntid 128, 2 {
ret; }
";

fn load(process: &SimProcess, text: &str) -> (Result<Module, DriverError>, JitOptions) {
    load_with(process, text, None)
}

fn load_with(process: &SimProcess, text: &str, most: Option<u32>) -> (Result<Module, DriverError>, JitOptions) {
    let log = || Some(JitLog::with_capacity(4096));
    let mut options = JitOptions { max_registers: most, verbose: true, info_log: log(), error_log: log() };
    (process.module_load_data_ex(text.as_bytes(), &mut options), options)
}

fn error_log(options: JitOptions) -> String {
    options.error_log.unwrap().text().to_owned()
}

fn info_log(options: JitOptions) -> String {
    options.info_log.unwrap().text().to_owned()
}

fn function(process: &SimProcess, text: &str, name: &str, most: Option<u32>) -> Function {
    process.module_get_function(load_with(process, text, most).0.unwrap(), name).unwrap()
}

#[test]
fn broken_ptx_is_refused_in_the_words_of_ptxas() {
    let process = in_context(&machine());
    let (answer, options) = load(&process, &KERNELS.replacen('{', "[", 1));
    assert_eq!(refusal(answer), ("MODULE-1", Some(CuResult::INVALID_PTX)));
    let line = 1 + KERNELS.lines().position(|line| line.starts_with('{')).unwrap();
    let said = format!(
        "ptxas application ptx input, line {line}; fatal   : Parsing error near '[': syntax error\n\
         ptxas fatal   : Ptx assembly aborted due to errors"
    );
    assert_eq!(error_log(options), said);
}

#[test]
fn an_unknown_instruction_is_named_with_its_line() {
    let process = in_context(&machine());
    let (answer, options) = load(&process, &MODEST.replace("ret", "nonsense.u32 %r"));
    assert_eq!(refusal(answer), ("MODULE-1", Some(CuResult::INVALID_PTX)));
    let said = "ptxas application ptx input, line 6; error   : Not a name of any known instruction: 'nonsense'\n";
    assert!(error_log(options).starts_with(said));
}

#[test]
fn a_log_that_is_too_small_is_cut() {
    let process = in_context(&machine());
    let mut options = JitOptions { error_log: Some(JitLog::with_capacity(12)), ..JitOptions::default() };
    process.module_load_data_ex(MODEST.replace("ret", "foo").as_bytes(), &mut options).unwrap_err();
    assert_eq!(error_log(options), "ptxas appli");
}

#[test]
fn ptx_that_is_newer_than_the_driver_is_refused() {
    let process = in_context(&machine());
    let (answer, options) = load(&process, &MODEST.replace("version 8.0", "version 99.0"));
    assert_eq!(refusal(answer), ("MODULE-2", Some(CuResult::UNSUPPORTED_PTX_VERSION)));
    let said = "ptxas application ptx input, line 1; fatal   : Unsupported .version 99.0; current version is '9.0'";
    assert_eq!(error_log(options), said);
}

/// As an H200 answers.
#[test]
fn what_is_no_code_or_not_all_of_it_is_refused_in_the_words_of_the_driver() {
    let process = in_context(&machine());
    let not_recognized = "error   : Binary format for key='0', ident='' is not recognized";
    let calls_nobody = MODEST.replace("ret;", "call f; ret;").replace(".visible", ".extern .func f;\n.visible");
    for (text, (by, code), says) in [
        ("hello world", ("MODULE-3", CuResult::INVALID_IMAGE), not_recognized),
        ("", ("MODULE-3", CuResult::INVALID_IMAGE), not_recognized),
        ("\u{7f}EL", ("MODULE-3", CuResult::INVALID_IMAGE), not_recognized),
        (&calls_nobody, ("MODULE-1", CuResult::INVALID_PTX), "ptxas fatal   : Unresolved extern function 'f'"),
    ] {
        let (answer, options) = load(&process, text);
        assert_eq!(refusal(answer), (by, Some(code)), "{text}");
        assert_eq!(error_log(options), says);
    }
}

/// Only what is wrong with the options is told unasked.
#[test]
fn the_info_log_is_empty_unless_more_is_asked_for() {
    let process = in_context(&machine());
    for (most, says) in [
        (None, ""),
        (Some(32), ""),
        (Some(16), "ptxas warning : For profile sm_90a adjusting per thread register count of 16 to lower bound of 24"),
    ] {
        let mut options = JitOptions { max_registers: most, ..JitOptions::sample() };
        process.module_load_data_ex(KERNELS.as_bytes(), &mut options).unwrap();
        assert_eq!(info_log(options), says);
    }
}

#[test]
fn a_target_that_the_device_or_the_version_does_not_have_is_refused() {
    let process = in_context(&machine());
    for (version, target, says) in [
        ("8.7", "sm_100", "SM version specified by .target is higher than default SM version assumed"),
        ("7.0", "sm_90", "line 2; error   : PTX .version 7.0 does not support .target sm_90"),
        ("8.0", "sm_33", "line 2; fatal   : Unsupported .target 'sm_33'"),
    ] {
        let text = MODEST.replace("version 8.0", &format!("version {version}")).replace("sm_90", target);
        let (answer, options) = load(&process, &text);
        assert_eq!(refusal(answer), ("MODULE-1", Some(CuResult::INVALID_PTX)), "{target}");
        let log = error_log(options);
        assert!(log.contains(says), "{log}");
    }
    assert!(load(&process, &MODEST.replace("sm_90", "sm_90a")).0.is_ok());
}

#[test]
fn the_most_registers_are_kept_and_reported() {
    let process = in_context(&machine());
    let registers = |most| {
        let function = function(&process, KERNELS, "fill_pattern", most);
        process.func_get_attribute(FunctionAttribute::NUM_REGS, function).unwrap()
    };
    let (all, least) = (registers(None), 24);
    assert!(all > 32, "{all}");
    assert_eq!([Some(32), Some(least), Some(16), Some(255), Some(256)].map(registers), [32, 24, 24, all, all]);
    for (most, says) in [
        (16, "ptxas warning : For profile sm_90a adjusting per thread register count of 16 to lower bound of 24\n"),
        (256, "ptxas warning : Too big maxrregcount value specified 256, will be ignored\n"),
        (32, "ptxas info    : Overriding maximum register limit 256 for 'verify_pattern' with  32 of maxrregcount"),
    ] {
        let log = info_log(load_with(&process, KERNELS, Some(most)).1);
        assert!(log.starts_with(says), "{log}");
    }
}

#[test]
fn attributes_of_a_kernel_are_those_of_its_text() {
    let process = in_context(&machine());
    let modest = function(&process, MODEST, "modest", None);
    for (attribute, expected) in [
        (FunctionAttribute::MAX_THREADS_PER_BLOCK, 256),
        (FunctionAttribute::SHARED_SIZE_BYTES, 0),
        (FunctionAttribute::CONST_SIZE_BYTES, 20),
        (FunctionAttribute::LOCAL_SIZE_BYTES, 0),
        (FunctionAttribute::NUM_REGS, 3),
        (FunctionAttribute::PTX_VERSION, 90),
        (FunctionAttribute::BINARY_VERSION, 90),
    ] {
        assert_eq!(process.func_get_attribute(attribute, modest), Ok(expected), "{attribute}");
    }
    assert_eq!(rule(process.func_get_attribute(FunctionAttribute::new(99), modest)), "MODULE-6");
}

#[test]
fn occupancy_is_that_of_the_device() {
    let process = in_context(&machine());
    // It is expected to use more than the 32 that are allowed.
    let pattern = function(&process, KERNELS, "fill_pattern", Some(32));
    let blocks = |threads, shared| {
        process.occupancy_max_active_blocks_per_multiprocessor(pattern, threads, ByteSize::kib(shared))
    };
    for (threads, shared, expected) in [
        (256, 0, 8),
        (1024, 0, 2),
        (32, 0, 32),
        (1, 0, 32),
        (64, 0, 32),
        (128, 0, 16),
        (768, 0, 2),
        (256, 48, 4),
        (256, 49, 0),
        (1025, 0, 0),
    ] {
        assert_eq!(blocks(threads, shared), Ok(expected), "{threads} threads, {shared} KiB");
    }
    assert_eq!(rule(blocks(0, 0)), "LAUNCH-1");
    assert_eq!(rule(blocks(-1, 0)), "LAUNCH-1");
}

#[test]
fn a_block_beyond_what_the_kernel_declares_has_no_occupancy() {
    let process = in_context(&machine());
    let modest = function(&process, MODEST, "modest", None);
    let blocks = |threads| process.occupancy_max_active_blocks_per_multiprocessor(modest, threads, ByteSize::ZERO);
    assert_eq!(blocks(256), Ok(8));
    assert_eq!(blocks(257), Ok(0));
}
