//! The player against drivers whose answers are written down beforehand.

#[expect(dead_code, reason = "each test uses a part")]
mod support;

use std::fs::File;
use std::io::Read;
use std::os::unix::net::UnixStream;

use peermap_driver::{
    AccessFlags, ByteSize, Call, Context, CuResult, DevicePtr, DriverError, Explanation, Function, MemHandle, MemInfo,
    Module, RuleId, ShareableHandle, Value,
};
use peermap_trace::{End, Got, Mismatch, Outcome, PlayError, Player, StepResult};
use support::scripted::{Scripted, ScriptedProcesses};
use support::{read, with_header};

fn play(steps: &[&str], processes: &mut ScriptedProcesses) -> Outcome {
    let traces = read(&with_header(steps)).unwrap_or_else(|error| panic!("{error}"));
    Player::play(&traces[0], processes)
}

/// Plays steps of process 0.
fn play_one(steps: &[&str], driver: &Scripted) -> Outcome {
    play(steps, &mut ScriptedProcesses::one(driver.clone()))
}

fn assert_matches(outcome: &Outcome) {
    let shown: Vec<String> = outcome.mismatches.iter().map(ToString::to_string).collect();
    assert!(outcome.is_match(), "{shown:#?}");
    assert_eq!(outcome.matched, outcome.steps);
}

fn only(outcome: &Outcome) -> &Mismatch {
    assert_eq!(outcome.mismatches.len(), 1, "{outcome:?}");
    &outcome.mismatches[0]
}

fn address(value: u64) -> DevicePtr {
    DevicePtr::new(value)
}

fn memory(raw: u64) -> MemHandle {
    // SAFETY: only a scripted driver sees the handle.
    unsafe { MemHandle::from_raw(raw) }
}

fn context(raw: u64) -> Context {
    // SAFETY: only a scripted driver sees the handle.
    unsafe { Context::from_raw(raw) }
}

fn module(raw: u64) -> Module {
    // SAFETY: only a scripted driver sees the handle.
    unsafe { Module::from_raw(raw) }
}

fn function(raw: u64) -> Function {
    // SAFETY: only a scripted driver sees the handle.
    unsafe { Function::from_raw(raw) }
}

fn explanation() -> Box<Explanation> {
    Box::new(Explanation {
        rule: RuleId("MAP-8"),
        sentence: "a mapping may not overlap another",
        facts: vec![("ptr", Value::Address(0x20_0000))],
        earlier: None,
    })
}

fn would_crash(rule: &'static str) -> DriverError {
    DriverError::WouldCrash { explanation: Box::new(Explanation { rule: RuleId(rule), ..*explanation() }) }
}

const INIT: &str = r#"{"p": 0, "call": "cuInit", "in": {}, "result": "CUDA_SUCCESS"}"#;
const COUNT: &str = r#"{"p": 0, "call": "cuDeviceGetCount", "in": {}, "result": "CUDA_SUCCESS", "out": {"count": 2}}"#;
const RESERVE: &str = r#"{"p": 0, "call": "cuMemAddressReserve", "in": {"size": 4096, "alignment": 0}, "as": "v0", "result": "CUDA_SUCCESS"}"#;
const CREATE: &str = r#"{"p": 0, "call": "cuMemCreate", "in": {"size": 4096, "handle_types": "posix_fd"}, "as": "h0", "result": "CUDA_SUCCESS"}"#;
const MAP: &str =
    r#"{"p": 0, "call": "cuMemMap", "in": {"ptr": "$v0+4096", "size": 8, "handle": "$h0"}, "result": "CUDA_SUCCESS"}"#;

#[test]
fn a_right_answer_matches() {
    let driver = Scripted::default().answer(Call::cuInit, Ok(())).answer(Call::cuDeviceGetCount, Ok(2_i32));
    let outcome = play_one(&[INIT, COUNT], &driver);
    assert_matches(&outcome);
    assert_eq!(outcome.steps, 2);
}

#[test]
fn a_wrong_result_is_a_mismatch_that_says_the_rule() {
    let refused = DriverError::Refused { result: CuResult::INVALID_VALUE, explanation: Some(explanation()) };
    let driver = Scripted::default()
        .answer(Call::cuMemAddressReserve, Ok(address(0x1000)))
        .answer(Call::cuMemCreate, Ok(memory(7)))
        .answer::<()>(Call::cuMemMap, Err(refused));
    let outcome = play_one(&[RESERVE, CREATE, MAP], &driver);
    assert_eq!((outcome.steps, outcome.matched), (3, 2));
    let mismatch = only(&outcome);
    assert_eq!((mismatch.step, mismatch.line), (2, 4));
    assert_eq!(
        mismatch.to_string(),
        "trace test, step 2 (line 4): process 0 calls cuMemMap \
         {\"ptr\": \"$v0+4096\", \"size\": 8, \"handle\": \"$h0\"}; expected CUDA_SUCCESS; \
         got CUDA_ERROR_INVALID_VALUE (MAP-8: a mapping may not overlap another; ptr 0x200000)"
    );
}

#[test]
fn a_success_where_a_refusal_was_recorded_is_a_mismatch() {
    let step = INIT.replace("CUDA_SUCCESS", "CUDA_ERROR_INVALID_VALUE");
    let outcome = play_one(&[&step], &Scripted::default().answer(Call::cuInit, Ok(())));
    assert!(only(&outcome).to_string().ends_with("expected CUDA_ERROR_INVALID_VALUE; got CUDA_SUCCESS"));
}

#[test]
fn a_wrong_returned_value_is_a_mismatch() {
    let outcome = play_one(&[COUNT], &Scripted::default().answer(Call::cuDeviceGetCount, Ok(1_i32)));
    assert!(
        only(&outcome)
            .to_string()
            .ends_with("expected CUDA_SUCCESS with {\"count\": 2}; got CUDA_SUCCESS with {\"count\": 1}"),
        "{}",
        only(&outcome)
    );
}

#[test]
fn a_returned_value_that_was_not_recorded_is_a_mismatch() {
    let step = r#"{"p": 0, "call": "cuDeviceGetCount", "in": {}, "result": "CUDA_SUCCESS"}"#;
    let outcome = play_one(&[step], &Scripted::default().answer(Call::cuDeviceGetCount, Ok(2_i32)));
    assert_eq!(only(&outcome).expected.out, None);
}

#[test]
fn what_is_not_modelled_is_a_mismatch_whatever_was_recorded() {
    for result in ["CUDA_SUCCESS", "CUDA_ERROR_NOT_SUPPORTED", "SIGSEGV"] {
        let outcome = play_one(&[&INIT.replace("CUDA_SUCCESS", result)], &Scripted::default());
        assert!(matches!(&only(&outcome).got, Got::NotModelled { what } if what == "cuInit without a script"));
    }
}

#[test]
fn a_host_that_cannot_go_on_is_a_mismatch() {
    let host = DriverError::Host { what: "no host memory".to_owned() };
    let outcome = play_one(&[INIT], &Scripted::default().answer::<()>(Call::cuInit, Err(host)));
    assert!(only(&outcome).to_string().ends_with("got no answer: the backend cannot go on, no host memory"));
}

#[test]
fn the_player_goes_on_without_a_value_that_did_not_come_to_be() {
    let driver = Scripted::default()
        .answer(Call::cuMemAddressReserve, Ok(address(0x1000)))
        .answer::<MemHandle>(Call::cuMemCreate, Err(DriverError::refused(CuResult::OUT_OF_MEMORY)))
        .answer(Call::cuDeviceGetCount, Ok(2_i32));
    let outcome = play_one(&[RESERVE, CREATE, MAP, COUNT], &driver);
    assert_eq!((outcome.steps, outcome.matched), (4, 2));
    assert!(matches!(&outcome.mismatches[1].got, Got::NotPlayed(PlayError::NoValue { name }) if name == "h0"));
}

#[test]
fn arguments_reach_the_driver_with_the_defaults_of_the_format() {
    let driver = Scripted::default()
        .answer(Call::cuMemAddressReserve, Ok(address(0x1000)))
        .answer(Call::cuMemCreate, Ok(memory(7)))
        .answer(Call::cuMemMap, Ok(()));
    assert_matches(&play_one(&[RESERVE, CREATE, MAP], &driver));
    assert_eq!(
        driver.made(),
        [
            "cuMemAddressReserve(4 KiB, 0 B, 0x0, 0)",
            "cuMemCreate(4 KiB, {type 1, handle_types POSIX_FILE_DESCRIPTOR, location {type DEVICE, id 0}, \
             compression NONE, gpu_direct_rdma 0}, 0)",
            "cuMemMap(0x2000, 8 B, 0 B, 0x7, 0)",
        ]
    );
}

#[test]
fn an_argument_of_a_wrong_type_is_a_mismatch() {
    let step = r#"{"p": 0, "call": "cuMemAlloc", "in": {"size": "much"}, "as": "a0", "result": "CUDA_SUCCESS"}"#;
    let outcome = play_one(&[step], &Scripted::default());
    assert!(matches!(&only(&outcome).got, Got::NotPlayed(PlayError::WrongArgument { key: "size", .. })));
}

#[test]
fn an_address_that_leaves_the_address_space_is_a_mismatch() {
    let driver = Scripted::default().answer(Call::cuMemAddressReserve, Ok(address(0x1000)));
    let step = r#"{"p": 0, "call": "cuMemFree", "in": {"ptr": "$v0-0x2000"}, "result": "CUDA_SUCCESS"}"#;
    let outcome = play_one(&[RESERVE, step], &driver);
    assert!(matches!(&only(&outcome).got, Got::NotPlayed(PlayError::AddressOverflow { .. })));
}

#[test]
fn a_copy_beyond_the_players_buffer_is_a_mismatch() {
    let step = r#"{"p": 0, "call": "cuMemcpyDtoH", "in": {"ptr": "0", "size": 18446744073709551615}, "result": "CUDA_SUCCESS"}"#;
    let outcome = play_one(&[step], &Scripted::default());
    assert!(matches!(&only(&outcome).got, Got::NotPlayed(PlayError::HostBuffer { .. })));
}

#[test]
fn returned_addresses_are_compared_by_name() {
    let range = r#"{"p": 0, "call": "cuMemGetAddressRange", "in": {"ptr": "$v0"}, "result": "CUDA_SUCCESS", "out": {"base": "$v0+4096", "size": 64}}"#;
    let start = r#"{"p": 0, "call": "cuPointerGetAttribute", "in": {"attribute": "RANGE_START_ADDR", "ptr": "$v0"}, "result": "CUDA_SUCCESS", "out": {"value": "$v0+1"}}"#;
    let owner = r#"{"p": 0, "call": "cuPointerGetAttribute", "in": {"attribute": "CONTEXT", "ptr": "$v0"}, "result": "CUDA_SUCCESS", "out": {"value": "nonzero"}}"#;
    let nobody = &owner.replace("nonzero", "zero");
    let size = r#"{"p": 0, "call": "cuPointerGetAttribute", "in": {"attribute": "RANGE_SIZE", "ptr": "$v0"}, "result": "CUDA_SUCCESS", "out": {"value": 64}}"#;
    let driver = Scripted::default()
        .answer(Call::cuMemAddressReserve, Ok(address(0x1000)))
        .answer(Call::cuMemGetAddressRange, Ok((address(0x2000), ByteSize::new(64))))
        .answer(Call::cuPointerGetAttribute, Ok(0x1001_u64))
        .answer(Call::cuPointerGetAttribute, Ok(0xc0_u64))
        .answer(Call::cuPointerGetAttribute, Ok(0_u64))
        .answer(Call::cuPointerGetAttribute, Ok(64_u64));
    assert_matches(&play_one(&[RESERVE, range, start, owner, nobody, size], &driver));
}

#[test]
fn a_freed_address_names_nothing_any_more() {
    let range = |base: &str| {
        format!(
            r#"{{"p": 0, "call": "cuMemGetAddressRange", "in": {{"ptr": "$v0"}}, "result": "CUDA_SUCCESS", "out": {{"base": "{base}", "size": 64}}}}"#
        )
    };
    let alloc = r#"{"p": 0, "call": "cuMemAlloc", "in": {"size": 1}, "as": "a0", "result": "CUDA_SUCCESS"}"#;
    let free = r#"{"p": 0, "call": "cuMemFree", "in": {"ptr": "$a0"}, "result": "CUDA_SUCCESS"}"#;
    let again = &RESERVE.replace("v0", "v1");
    let address_free =
        r#"{"p": 0, "call": "cuMemAddressFree", "in": {"ptr": "$v1+0", "size": 4096}, "result": "CUDA_SUCCESS"}"#;
    let (from_alloc, from_v1, from_v0) = (range("$a0+16"), range("$v1+32"), range("$v0+48"));
    let driver = (0..3)
        .fold(Scripted::default(), |driver, _| {
            driver.answer(Call::cuMemGetAddressRange, Ok((address(0x1030), ByteSize::new(64))))
        })
        .answer(Call::cuMemAddressReserve, Ok(address(0x1000)))
        .answer(Call::cuMemAddressReserve, Ok(address(0x1010)))
        .answer(Call::cuMemAlloc, Ok(address(0x1020)))
        .answer(Call::cuMemFree, Ok(()))
        .answer(Call::cuMemAddressFree, Ok(()));
    assert_matches(&play_one(&[RESERVE, again, alloc, &from_alloc, free, &from_v1, address_free, &from_v0], &driver));
}

#[test]
fn a_stream_is_non_blocking_unless_the_step_says_otherwise() {
    let create = |arguments: &str, name: &str| {
        format!(
            r#"{{"p": 0, "call": "cuStreamCreate", "in": {arguments}, "as": "{name}", "result": "CUDA_ERROR_INVALID_VALUE"}}"#
        )
    };
    let driver = Scripted::default();
    play_one(&[&create("{}", "s0"), &create(r#"{"flags": 0}"#, "s1")], &driver);
    assert_eq!(driver.made(), ["cuStreamCreate(1)", "cuStreamCreate(0)"]);
}

#[test]
fn an_alignment_that_was_asked_for_is_compared() {
    let step = r#"{"p": 0, "call": "cuMemAddressReserve", "in": {"size": 4096, "alignment": 4096}, "as": "v0", "result": "CUDA_SUCCESS", "out": {"aligned": true}}"#;
    assert_matches(&play_one(&[step], &Scripted::default().answer(Call::cuMemAddressReserve, Ok(address(0x3000)))));
    let outcome = play_one(&[step], &Scripted::default().answer(Call::cuMemAddressReserve, Ok(address(0x3001))));
    assert!(only(&outcome).to_string().ends_with("got CUDA_SUCCESS with {\"aligned\": false}"));
}

#[test]
fn a_retained_handle_is_compared_by_the_unreleased_names_of_its_value() {
    let retain = |name: &str, same: &str| {
        format!(
            r#"{{"p": 0, "call": "cuMemRetainAllocationHandle", "in": {{"ptr": "0x1"}}, "as": "{name}", "result": "CUDA_SUCCESS", "out": {{"same_as": {same}}}}}"#
        )
    };
    let release = r#"{"p": 0, "call": "cuMemRelease", "in": {"handle": "$h0"}, "result": "CUDA_SUCCESS"}"#;
    let driver = Scripted::default()
        .answer(Call::cuMemCreate, Ok(memory(7)))
        .answer(Call::cuMemRetainAllocationHandle, Ok(memory(7)))
        .answer(Call::cuMemRelease, Ok(()))
        .answer(Call::cuMemRetainAllocationHandle, Ok(memory(7)))
        .answer(Call::cuMemRetainAllocationHandle, Ok(memory(8)));
    let steps = [CREATE, &retain("r0", r#"["h0"]"#), release, &retain("r1", r#"["r0"]"#), &retain("r2", "[]")];
    assert_matches(&play_one(&steps, &driver));
}

#[test]
fn free_memory_is_compared_by_its_change() {
    let info = |delta: i64| {
        format!(
            r#"{{"p": 0, "call": "cuMemGetInfo", "in": {{}}, "result": "CUDA_SUCCESS", "out": {{"free_delta": {delta}}}}}"#
        )
    };
    let answer = |free| Ok(MemInfo { free: ByteSize::new(free), total: ByteSize::new(1 << 20) });
    let driver = Scripted::default()
        .answer(Call::cuMemGetInfo, answer(5000))
        .answer(Call::cuMemGetInfo, answer(1000))
        .answer(Call::cuMemGetInfo, answer(1001));
    assert_matches(&play_one(&[&info(0), &info(-4000), &info(1)], &driver));
}

#[test]
fn rights_and_copied_bytes_are_compared() {
    let access = r#"{"p": 0, "call": "cuMemGetAccess", "in": {"ptr": "0x1000", "device": 1}, "result": "CUDA_SUCCESS", "out": {"prot": "read"}}"#;
    let copy = r#"{"p": 0, "call": "cuMemcpyDtoH", "in": {"ptr": "0x1000", "size": 16}, "result": "CUDA_SUCCESS", "out": {"runs": [[0, 16]]}}"#;
    let set = r#"{"p": 0, "call": "cuMemSetAccess", "in": {"ptr": "0x1000", "size": 1, "desc": [{"device": 1, "prot": "write2"}]}, "result": "CUDA_SUCCESS"}"#;
    let driver = Scripted::default()
        .answer(Call::cuMemGetAccess, Ok(AccessFlags::READ))
        .answer(Call::cuMemcpyDtoH, Ok(()))
        .answer(Call::cuMemSetAccess, Ok(()));
    assert_matches(&play_one(&[access, copy, set], &driver));
    assert_eq!(driver.made()[2], "cuMemSetAccess(0x1000, 1 B, [{location {type DEVICE, id 1}, flags 0x2}])");
}

#[test]
fn a_recorded_crash_matches_only_a_crash_and_ends_the_process() {
    let crash = r#"{"p": 0, "call": "cuMemRelease", "in": {"handle": "0xdead"}, "result": "SIGSEGV"}"#;
    let driver = Scripted::default().answer::<()>(Call::cuMemRelease, Err(would_crash("HANDLE-1")));
    let mut processes = ScriptedProcesses::one(driver.clone());
    assert_matches(&play(&[crash], &mut processes));
    assert_eq!(processes.ended, [(0, End::Kill)]);
    assert_eq!(driver.made(), ["cuMemRelease(0xdead)"]);

    let refusing =
        Scripted::default().answer::<()>(Call::cuMemRelease, Err(DriverError::refused(CuResult::INVALID_VALUE)));
    let mut processes = ScriptedProcesses::one(refusing);
    assert_eq!(only(&play(&[crash], &mut processes)).expected.result, StepResult::SegmentationFault);
    assert_eq!(processes.ended, [(0, End::Exit)]);
}

#[test]
fn a_crash_that_was_not_recorded_is_a_mismatch() {
    let outcome = play_one(&[INIT], &Scripted::default().answer::<()>(Call::cuInit, Err(would_crash("HANDLE-1"))));
    assert!(only(&outcome).to_string().contains("got SIGSEGV (HANDLE-1: "), "{}", only(&outcome));
}

#[test]
fn only_the_rule_for_handles_makes_a_crash() {
    let crash = r#"{"p": 0, "call": "cuMemRelease", "in": {"handle": "0xdead"}, "result": "SIGSEGV"}"#;
    let driver = Scripted::default().answer::<()>(Call::cuMemRelease, Err(would_crash("MAP-8")));
    assert!(matches!(&only(&play_one(&[crash], &driver)).got, Got::WouldCrash(reason) if reason.rule() == "MAP-8"));
}

#[test]
fn a_process_that_would_have_crashed_makes_no_more_calls() {
    let driver = Scripted::default().answer::<()>(Call::cuInit, Err(would_crash("HANDLE-1")));
    let mut processes = ScriptedProcesses::one(driver);
    let outcome = play(&[INIT, COUNT], &mut processes);
    assert!(matches!(&outcome.mismatches[1].got, Got::NotPlayed(PlayError::NotRunning { process: 0 })));
    assert_eq!(processes.ended, [(0, End::Kill)]);
}

const EXPORT: &str = r#"{"p": 0, "call": "cuMemExportToShareableHandle", "in": {"handle": "$h0", "handle_type": "posix_fd"}, "as": "f0", "result": "CUDA_SUCCESS"}"#;
const CLOSE: &str = r#"{"p": 0, "call": "close_fd", "in": {"fd": "$f0"}, "result": "OK"}"#;

fn exporting() -> Scripted {
    let file = File::open("/dev/null").expect("it can be opened");
    Scripted::default()
        .answer(Call::cuMemCreate, Ok(memory(7)))
        .answer(Call::cuMemExportToShareableHandle, Ok(ShareableHandle::PosixFd(file.into())))
}

#[test]
fn a_closed_descriptor_reaches_the_driver_as_a_number_that_is_not_open() {
    let import = r#"{"p": 0, "call": "cuMemImportFromShareableHandle", "in": {"from": "$f0", "handle_type": "posix_fd"}, "as": "h1", "result": "CUDA_ERROR_UNKNOWN"}"#;
    let again = CLOSE.replace("OK", "EBADF");
    let driver = exporting()
        .answer::<MemHandle>(Call::cuMemImportFromShareableHandle, Err(DriverError::refused(CuResult::UNKNOWN)));
    assert_matches(&play_one(&[CREATE, EXPORT, CLOSE, &again, import], &driver));
    assert_eq!(driver.made()[2], "cuMemImportFromShareableHandle(2147483647, POSIX_FILE_DESCRIPTOR)");
}

#[test]
fn numbers_stand_for_descriptors() {
    let import = r#"{"p": 0, "call": "cuMemImportFromShareableHandle", "in": {"from": -1, "handle_type": "none"}, "as": "h1", "result": "CUDA_ERROR_UNKNOWN"}"#;
    let driver = Scripted::default()
        .answer::<MemHandle>(Call::cuMemImportFromShareableHandle, Err(DriverError::refused(CuResult::UNKNOWN)));
    assert_matches(&play_one(&[import], &driver));
    assert_eq!(driver.made(), ["cuMemImportFromShareableHandle(-1, NONE)"]);
}

#[test]
fn a_sent_descriptor_is_the_receivers_own() {
    let send = r#"{"p": 0, "call": "send", "in": {"value": "$f0", "to": 1}, "as": "g0", "result": "OK"}"#;
    let sent_closed = r#"{"p": 0, "call": "send", "in": {"value": "$f0", "to": 1}, "as": "g1", "result": "EBADF"}"#;
    let exit = r#"{"p": 0, "call": "exit", "in": {}, "result": "OK"}"#;
    let close = r#"{"p": 1, "call": "close_fd", "in": {"fd": "$g0"}, "result": "OK"}"#;
    let again = &close.replace("OK", "EBADF");
    let mut processes = ScriptedProcesses::with([exporting(), Scripted::default()]);
    assert_matches(&play(&[CREATE, EXPORT, send, CLOSE, sent_closed, exit, close, again], &mut processes));
    assert_eq!(processes.started, [0, 1]);
    assert_eq!(processes.ended, [(0, End::Exit), (1, End::Exit)]);
}

#[test]
fn the_descriptors_of_a_process_close_when_it_ends() {
    let (exported, mut other_end) = UnixStream::pair().expect("sockets can be made");
    let driver = Scripted::default()
        .answer(Call::cuMemCreate, Ok(memory(7)))
        .answer(Call::cuMemExportToShareableHandle, Ok(ShareableHandle::PosixFd(exported.into())));
    assert_matches(&play_one(&[CREATE, EXPORT], &driver));
    other_end.set_nonblocking(true).expect("it is a socket");
    assert_eq!(other_end.read(&mut [0]).expect("the peer has hung up"), 0);
}

#[test]
fn descriptors_of_three_kinds_can_be_opened_and_closed() {
    for kind in ["memfd", "null", "socket"] {
        let open = format!(r#"{{"p": 0, "call": "open_fd", "in": {{"kind": "{kind}"}}, "as": "f0", "result": "OK"}}"#);
        assert_matches(&play_one(&[&open, CLOSE], &Scripted::default()));
    }
}

#[test]
fn a_killed_process_makes_no_more_calls() {
    let kill = r#"{"p": 0, "call": "kill", "in": {}, "result": "OK"}"#;
    let mut processes = ScriptedProcesses::one(Scripted::default());
    let outcome = play(&[kill, INIT], &mut processes);
    assert!(matches!(&only(&outcome).got, Got::NotPlayed(PlayError::NotRunning { process: 0 })));
    assert_eq!(processes.ended, [(0, End::Kill)]);
}

#[test]
fn a_process_that_cannot_be_started_is_asked_for_once() {
    let mut processes = ScriptedProcesses::default();
    let outcome = play(&[INIT, INIT], &mut processes);
    assert_eq!(processes.started, [0]);
    assert!(outcome.mismatches[0].to_string().ends_with("process 0 could not be started: there is no script for it"));
    assert!(matches!(&outcome.mismatches[1].got, Got::NotPlayed(PlayError::NotRunning { process: 0 })));
}

const FILL: &str = r#"{"p": 0, "call": "cuLaunchKernel", "in": {"kernel": "fill", "args": [["ptr", "0x1000"], ["i32", -2], ["u8", 7]]}, "result": "CUDA_SUCCESS"}"#;
const DESTROY: &str = r#"{"p": 0, "call": "cuCtxDestroy", "in": {"ctx": "$c0"}, "result": "CUDA_SUCCESS"}"#;
const CONTEXT: &str = r#"{"p": 0, "call": "cuCtxCreate", "in": {"device": 0}, "as": "c0", "result": "CUDA_SUCCESS"}"#;

/// A driver for launches in context 9; each launch asks for the current context and for the kernel.
fn launching(loads: u64, launches: u64) -> Scripted {
    let loaded =
        (1..=loads).fold(Scripted::default(), |driver, raw| driver.answer(Call::cuModuleLoadDataEx, Ok(module(raw))));
    (0..launches).fold(loaded, |driver, _| {
        driver
            .answer(Call::cuCtxGetCurrent, Ok(Some(context(9))))
            .answer(Call::cuModuleGetFunction, Ok(function(5)))
            .answer(Call::cuLaunchKernel, Ok(()))
    })
}

#[test]
fn the_first_launch_in_a_context_loads_the_kernels() {
    let driver = launching(1, 2);
    assert_matches(&play_one(&[FILL, FILL], &driver));
    let made = driver.made();
    assert_eq!(made.iter().filter(|call| call.starts_with("cuModuleLoadDataEx")).count(), 1);
    assert_eq!(
        made.last().map(String::as_str),
        Some("cuLaunchKernel({function 0x5, grid 64x1x1, block 128x1x1, shared 0 B, stream 0x0}, [0x1000, -2, 7])")
    );
}

#[test]
fn the_kernels_are_loaded_again_after_their_context_was_destroyed() {
    let driver = launching(2, 2)
        .answer(Call::cuCtxCreate, Ok(context(9)))
        .answer(Call::cuCtxCreate, Ok(context(9)))
        .answer(Call::cuCtxDestroy, Ok(()));
    let create_again = &CONTEXT.replace("c0", "c1");
    assert_matches(&play_one(&[CONTEXT, FILL, DESTROY, create_again, FILL], &driver));
    assert_eq!(driver.made().iter().filter(|call| call.starts_with("cuModuleLoadDataEx")).count(), 2);
}

#[test]
fn the_error_of_a_load_is_the_launchs_result() {
    let step = FILL.replace("CUDA_SUCCESS", "CUDA_ERROR_ILLEGAL_ADDRESS");
    let driver = Scripted::default()
        .answer(Call::cuCtxGetCurrent, Ok(Some(context(9))))
        .answer::<Module>(Call::cuModuleLoadDataEx, Err(DriverError::refused(CuResult::ILLEGAL_ADDRESS)));
    assert_matches(&play_one(&[&step], &driver));
}

#[test]
fn arguments_that_do_not_fit_the_kernel_never_reach_the_driver() {
    let driver = launching(1, 1);
    let outcome = play_one(&[&FILL.replace(r#", ["u8", 7]"#, "")], &driver);
    assert!(
        only(&outcome).to_string().ends_with("the kernel `fill` takes (ptr, i32, u8), not (ptr, i32)"),
        "{}",
        only(&outcome)
    );
    assert_eq!(driver.made(), [""; 0]);
}

#[test]
fn unloading_takes_every_module_once() {
    let unload = r#"{"p": 0, "call": "cuModuleUnload", "in": {}, "result": "CUDA_SUCCESS"}"#;
    let driver = launching(1, 1).answer(Call::cuModuleUnload, Ok(()));
    assert_matches(&play_one(&[FILL, unload, unload], &driver));
    assert_eq!(driver.made().last().map(String::as_str), Some("cuModuleUnload(0x1)"));
}

#[test]
fn contexts_are_compared_by_their_live_names() {
    let current = |same: &str| {
        format!(
            r#"{{"p": 0, "call": "cuCtxGetCurrent", "in": {{}}, "result": "CUDA_SUCCESS", "out": {{"same_as": {same}}}}}"#
        )
    };
    let none = r#"{"p": 0, "call": "cuCtxSetCurrent", "in": {"ctx": null}, "result": "CUDA_SUCCESS"}"#;
    let driver = Scripted::default()
        .answer(Call::cuCtxCreate, Ok(context(9)))
        .answer(Call::cuCtxGetCurrent, Ok(Some(context(9))))
        .answer(Call::cuCtxSetCurrent, Ok(()))
        .answer(Call::cuCtxGetCurrent, Ok(None::<Context>))
        .answer(Call::cuCtxDestroy, Ok(()))
        .answer(Call::cuCtxGetCurrent, Ok(Some(context(9))));
    let steps = [CONTEXT, &current(r#"["c0"]"#), none, &current("[]"), DESTROY, &current("[]")];
    assert_matches(&play_one(&steps, &driver));
    assert_eq!(driver.made()[2], "cuCtxSetCurrent(none)");
}

#[test]
fn outcomes_add_up() {
    let right = || play_one(&[INIT], &Scripted::default().answer(Call::cuInit, Ok(())));
    let wrong = || play_one(&[INIT, INIT], &Scripted::default());
    let total: Outcome = [right(), wrong(), right() + wrong()].into_iter().sum();
    assert_eq!((total.steps, total.matched, total.mismatches.len()), (6, 2, 4));
    assert!(!total.is_match());
}
