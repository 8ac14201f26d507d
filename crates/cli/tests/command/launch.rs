//! A kernel of the user's: what its buffers hold, how it fails, what is wrong with its arguments.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{complaints, json, peermap, run, stderr};

const KERNELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/memmap_ipc.ptx");

/// The `fill_byte` of the kernels with these arguments besides.
fn fill(arguments: &[&str]) -> Command {
    let mut command = peermap();
    command.args(["launch", KERNELS, "--backend", "sim", "--entry", "fill_byte", "--grid", "2", "--block", "32"]);
    command.args(arguments);
    command
}

const USUAL: [&str; 6] = ["--arg", "buf:100", "--arg", "u64:64", "--arg", "u8:7"];

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A file with one entry named `own`.
fn own(folder: &Path, parameters: &str, body: &str) -> PathBuf {
    let text = format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry own({parameters})\n{{\n{body}\nret;\n}}\n"
    );
    let path = folder.join("own.ptx");
    fs::write(&path, text).unwrap();
    path
}

/// Runs `own` of a file.
fn launch_own(file: &Path, arguments: &[&str]) -> Output {
    run(peermap().arg("launch").arg(file).args(["--backend", "sim", "--entry", "own"]).args(arguments))
}

#[test]
fn a_buffer_is_printed_as_runs() {
    let output = run(&mut fill(&USUAL));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "argument 0, 100 bytes: [7, 64] [0, 36]\n");
}

#[test]
fn the_same_as_one_object() {
    let output = run(&mut fill(&["--json", "--arg", "buf:100=0xff", "--arg", "u64:64", "--arg", "u8:7"]));
    let expected = serde_json::json!({
        "ok": true,
        "backend": "sim",
        "profile": "default",
        "entry": "fill_byte",
        "grid": [2, 1, 1],
        "block": [32, 1, 1],
        "shared_bytes": 0,
        "buffers": [{ "argument": 0, "bytes": 100, "runs": [[7, 64], [255, 36]], "runs_left_out": 0 }],
    });
    assert_eq!(json(&output), expected);
}

#[test]
fn no_more_than_forty_eight_runs_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..200).collect();
    fs::write(folder.path().join("in"), bytes).unwrap();
    let file = own(folder.path(), ".param .u64 p", "");
    let buffer = format!("buf@{}", folder.path().join("in").display());
    let output = launch_own(&file, &["--arg", &buffer]);
    assert_eq!(stdout(&output).matches('[').count(), 48);
    assert!(stdout(&output).ends_with("[47, 1] and 152 more runs\n"), "{}", stdout(&output));
    let as_json = json(&launch_own(&file, &["--arg", &buffer, "--json"]));
    assert_eq!(as_json["buffers"][0]["runs"].as_array().unwrap().len(), 48);
    assert_eq!(as_json["buffers"][0]["runs_left_out"], 152);
}

#[test]
fn a_file_gets_exactly_the_bytes_of_its_buffer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let out = format!("0={}", path.display());
    let output = run(fill(&USUAL).args(["--out", &out]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(fs::read(&path).unwrap(), [[7; 64].as_slice(), &[0; 36]].concat());
    let again = run(fill(&USUAL).args(["--out", &out]));
    assert_eq!(again.status.code(), Some(2));
    assert!(complaints(&again)[0].contains("--force replaces it"));
    assert_eq!(run(fill(&USUAL).args(["--out", &out, "--force"])).status.code(), Some(0));
}

#[test]
fn a_file_that_nothing_came_for_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let out = format!("0={}", folder.path().join("out").display());
    let output = run(&mut fill(&["--out", &out, "--arg", "buf:1", "--arg", "u64:4000000", "--arg", "u8:7"]));
    assert_eq!(output.status.code(), Some(17));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn every_kind_of_value_arrives_as_it_was_written() {
    let kinds = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"];
    let declared: Vec<String> = kinds.iter().map(|kind| format!(", .param .{kind} {kind}")).collect();
    let stores = kinds.iter().enumerate().map(|(index, kind)| {
        let register = match &kind[1..] {
            "8" | "16" => "%h",
            "32" if kind.starts_with('f') => "%f",
            "64" if kind.starts_with('f') => "%g",
            "32" => "%r",
            _ => "%d",
        };
        format!("ld.param.{kind} {register}, [{kind}]; st.global.{kind} [%p+{}], {register};\n", 8 * index)
    });
    let body = format!(
        ".reg .b16 %h; .reg .b32 %r; .reg .b64 %d, %p; .reg .f32 %f; .reg .f64 %g;\nld.param.u64 %p, [p];\n{}",
        stores.collect::<String>()
    );
    let folder = tempfile::tempdir().unwrap();
    let file = own(folder.path(), &format!(".param .u64 p{}", declared.concat()), &body);
    let out = format!("0={}", folder.path().join("out").display());
    let values = "u8:200 s8:-2 u16:0xffff s16:-3 u32:4000000000 s32:-4 u64:0x123456789abcdef0 s64:-5 f32:-1.5 f64:nan";
    let arguments = ["buf:80", values].join(" ");
    let arguments: Vec<&str> = arguments.split(' ').flat_map(|argument| ["--arg", argument]).collect();
    let output = launch_own(&file, &[&arguments[..], &["--out", &out]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let held = fs::read(folder.path().join("out")).unwrap();
    let expected: [&[u8]; 10] = [
        &[200],
        &(-2_i8).to_le_bytes(),
        &[0xFF, 0xFF],
        &(-3_i16).to_le_bytes(),
        &4_000_000_000_u32.to_le_bytes(),
        &(-4_i32).to_le_bytes(),
        &0x1234_5678_9ABC_DEF0_u64.to_le_bytes(),
        &(-5_i64).to_le_bytes(),
        &(-1.5_f32).to_le_bytes(),
        &f64::NAN.to_le_bytes(),
    ];
    let slots: Vec<u8> = expected.iter().flat_map(|bytes| [*bytes, &vec![0; 8 - bytes.len()]].concat()).collect();
    assert_eq!(held, slots);
}

#[test]
fn a_fault_prints_the_result_and_says_who_did_what() {
    let beyond = ["--arg", "buf:100", "--arg", "u64:2097153", "--arg", "u8:7"];
    let output = run(&mut fill(&beyond));
    assert_eq!(output.status.code(), Some(17));
    assert_eq!(stdout(&output), "CUDA_ERROR_ILLEGAL_ADDRESS\n");
    let complaint = complaints(&output).concat();
    for word in ["\"fill_byte\"", "block [0, 0, 0]", "thread [0, 0, 0]", "line 42", "write at 0x"] {
        assert!(complaint.contains(word), "no {word} in {complaint}");
    }
    let object = json(&run(fill(&beyond).arg("--json")));
    assert_eq!((&object["ok"], &object["exit_code"]), (&false.into(), &17.into()));
    assert_eq!(object["result"], "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_eq!(object["explanation"]["rule"], "FAULT-1");
    assert!(object["explanation"]["facts"]["address"].as_str().unwrap().starts_with("0x"), "{object}");
}

#[test]
fn two_buffers_are_mappings_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let body = ".reg .b64 %p;\nld.param.u64 %p, [first];\nst.global.u8 [%p+2097152], 1;";
    let file = own(folder.path(), ".param .u64 first, .param .u64 second", body);
    let output = launch_own(&file, &["--arg", "buf:2MiB", "--arg", "buf:2MiB"]);
    assert_eq!(output.status.code(), Some(17), "{}", stdout(&output));
}

#[test]
fn a_load_that_fails_shows_the_error_log() {
    let folder = tempfile::tempdir().unwrap();
    let file = own(folder.path(), "", "bra M;");
    let output = launch_own(&file, &[]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(16), "CUDA_ERROR_INVALID_PTX\n"));
    assert!(stderr(&output).contains("ptxas application ptx input, line 6; error"), "{}", stderr(&output));
    let object = json(&launch_own(&file, &["--json"]));
    assert!(object["log"][0].as_str().unwrap().contains("line 6; error"), "{object}");
}

#[test]
fn what_is_not_modelled_says_so_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = own(folder.path(), "", ".reg .u32 %c;\nwgmma.fence.sync.aligned;");
    let output = launch_own(&file, &["--json"]);
    assert_eq!(output.status.code(), Some(14));
    let object = json(&output);
    assert_eq!((&object["ok"], &object["exit_code"]), (&false.into(), &14.into()));
    assert!(object["error"].as_str().unwrap().contains("line 7"), "{object}");
}

#[test]
fn a_kernel_that_does_not_end_meets_its_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let file = own(folder.path(), "", "L: bra L;");
    let output = launch_own(&file, &["--deadline", "1"]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(17), "CUDA_ERROR_LAUNCH_TIMEOUT\n"));
    assert!(complaints(&output)[0].contains("line 6 of the PTX: still running after 1s"), "{}", stderr(&output));
}

#[test]
fn a_call_that_is_refused_is_an_error_of_the_driver() {
    let output = run(fill(&USUAL).args(["--shared", "4GiB"]));
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(16), "CUDA_ERROR_INVALID_VALUE\n"));
    assert!(complaints(&output)[0].contains("cuLaunchKernel"), "{}", stderr(&output));
}

#[test]
fn wrong_arguments_are_named() {
    for (arguments, words) in [
        (&["--arg", "buf:100"][..], &["--arg", "1 arguments", "declares 3", ".u8 fill_byte_param_2"][..]),
        (&["--arg", "buf:100", "--arg", "u64:64", "--arg", "u32:7"], &["--arg 2", "4 bytes", "which has 1"]),
        (&["--arg", "u32:7", "--arg", "u64:64", "--arg", "u8:7"], &["--arg 0", "4 bytes", "which has 8"]),
        (&["--arg", "u8:256"], &["--arg", "u8:256", "from 0 to 255"]),
        (&["--arg", "buf:0"], &["--arg", "buf:0", "at least one byte"]),
        (&["--arg", "buf@/nowhere/in"], &["--arg 0", "/nowhere/in"]),
        (&["--arg", "u16"], &["--arg", "buf:BYTES"]),
        (&["--arg", "buf:1", "--arg", "u64:1", "--arg", "u8:7", "--out", "1=x"], &["--out 1", "no buffer"]),
        (&["--arg", "buf:1", "--arg", "u64:1", "--arg", "u8:7", "--out", "9=x"], &["--out 9", "no buffer"]),
        (&["--out", "x"], &["--out", "0=result.bin"]),
        (
            &["--arg", "buf:1", "--arg", "buf:1", "--out", "0=same", "--out", "1=./same"],
            &["--out", "./same", "argument 0 and 1"],
        ),
        (&["--check", ""], &["--check", "there is no check \"\"", "or none"]),
        (&["--deadline", "0"], &["--deadline"]),
        (&["--shared=-1"], &["--shared"]),
    ] {
        let output = run(&mut fill(arguments));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{arguments:?} printed data");
        for word in words {
            assert!(complaints(&output)[0].contains(word), "{arguments:?}: no {word:?} in {}", stderr(&output));
        }
    }
}

#[test]
fn files_entries_and_shapes_that_do_not_exist_are_named() {
    for (arguments, words) in [
        (&["/nowhere/x.ptx", "--entry", "own"][..], &["/nowhere/x.ptx"][..]),
        (&["/dev/zero", "--entry", "own"], &["/dev/zero", "more than 67108864 bytes"]),
        (&[KERNELS, "--entry", "own"], &["--entry", "\"own\"", "fill_byte, fill_id"]),
        (&[KERNELS, "--entry", "fill_id", "--grid", "0"], &["--grid", "above 0"]),
        (&[KERNELS, "--entry", "fill_id", "--block", "1,2,3,4"], &["--block", "one to three"]),
        (&[KERNELS], &["--entry"]),
        (&[KERNELS, "--entry", "fill_id", "--backend", "cuda", "--profile", "default"], &["--arg"]),
    ] {
        let output = run(peermap().arg("launch").args(arguments));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        for word in words {
            assert!(complaints(&output)[0].contains(word), "{arguments:?}: no {word:?} in {}", stderr(&output));
        }
    }
}
