//! What the user asked for and cannot be: one line that says what to do, the documented exit code, nothing left.

use std::fs;
use std::process::{Command, Output};

use crate::support::{complaints, json, leftovers, memmap_ipc, peermap, run, stderr};

/// Runs, and expects an exit code and a single complaint that mentions each of some words.
fn refuses(command: &mut Command, code: i32, words: &[&str]) {
    let before = leftovers();
    let output = run(command);
    assert_eq!(output.status.code(), Some(code), "{command:?}: {}", stderr(&output));
    assert!(output.stdout.is_empty(), "{command:?} printed data");
    let complaints = complaints(&output);
    assert_eq!(complaints.len(), 1, "{command:?}: {}", stderr(&output));
    for word in words {
        assert!(complaints[0].contains(word), "{command:?}: no {word:?} in {}", complaints[0]);
    }
    assert_eq!(leftovers(), before, "{command:?} left something behind");
}

#[test]
fn a_size_that_is_no_multiple_says_the_next_that_fits() {
    refuses(&mut memmap_ipc(&["--size", "3000000"]), 2, &["2 MiB", "4 MiB"]);
    refuses(&mut memmap_ipc(&["--size", "65537", "--profile", "g64k"]), 2, &["64 KiB", "128 KiB"]);
}

#[test]
fn who_asks_for_nothing_is_shown_what_there_is() {
    for (arguments, word) in [(&[][..], "replay"), (&["run"], "simple-ipc")] {
        let output = run(peermap().args(arguments));
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), true));
        assert!(stderr(&output).lines().any(|line| line.trim_start().starts_with(word)), "{}", stderr(&output));
    }
}

#[test]
fn a_refusal_as_json_is_one_object_too() {
    let output = run(&mut memmap_ipc(&["--size", "3000000", "--json"]));
    assert_eq!(output.status.code(), Some(2));
    let report = json(&output);
    assert_eq!(report["ok"], false);
    assert_eq!(report["failure"]["exit_code"], 2);
    assert!(report["failure"]["message"].as_str().unwrap().contains("4 MiB"));
}

#[test]
fn an_error_before_any_result_is_one_object_too() {
    for (arguments, code, word) in [
        (&["run", "memmap-ipc", "--json", "--size", "four"][..], 2, "four"),
        (&["run", "memmap-ipc", "--profile", "h100", "--json"], 2, "h100"),
        (&["run", "memmap-ipc", "--backend", "cuda", "--profile", "nvl72", "--json"], 2, "--profile"),
        (&["probe", "--json", "--profile", "h100"], 2, "h100"),
        (&["probe", "--json", "now"], 2, "now"),
        (&["replay", "--json"], 2, "required arguments"),
        (&["replay", "--json", "/nowhere/x.jsonl"], 2, "/nowhere/x.jsonl"),
        (&["atlas", "--json", "/nowhere/x.jsonl"], 2, "/nowhere/x.jsonl"),
    ] {
        let output = run(peermap().args(arguments));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        let complaints = complaints(&output);
        assert_eq!(complaints.len(), 1, "{arguments:?}: {}", stderr(&output));
        let object = json(&output);
        assert_eq!((&object["ok"], &object["exit_code"]), (&false.into(), &code.into()), "{arguments:?}");
        let error = object["error"].as_str().unwrap();
        assert!(error.contains(word) && complaints[0].ends_with(error), "{arguments:?}: {error}");
    }
}

#[test]
fn json_after_two_dashes_is_no_wish_for_json() {
    refuses(peermap().args(["probe", "--", "--json"]), 2, &["--json"]);
}

#[test]
fn no_size_at_all() {
    refuses(&mut memmap_ipc(&["--size", "0"]), 2, &["--size"]);
}

#[test]
fn more_than_the_device_or_the_host_has() {
    refuses(&mut memmap_ipc(&["--size", "1TiB"]), 2, &[" MiB of ", "at most"]);
    refuses(&mut memmap_ipc(&["--size", "16GiB"]), 2, &[" MiB of memory that this host", "at most"]);
}

#[test]
fn sizes_that_are_none() {
    refuses(&mut memmap_ipc(&["--size", "four"]), 2, &["four"]);
    refuses(&mut memmap_ipc(&["--size", "4MB"]), 2, &["MB", "MiB"]);
    refuses(&mut memmap_ipc(&["--size", "-4MiB"]), 2, &[]);
}

#[test]
fn devices_that_are_not_there() {
    refuses(&mut memmap_ipc(&["--devices", "9"]), 2, &["9", "7"]);
    refuses(&mut memmap_ipc(&["--devices", "GPU-00000000-0000-0000-0000-000000000000"]), 2, &["GPU-00000000"]);
    refuses(&mut memmap_ipc(&["--devices", "first"]), 2, &["first"]);
}

#[test]
fn a_device_twice() {
    refuses(&mut memmap_ipc(&["--devices", "1,1"]), 2, &["1"]);
    refuses(&mut memmap_ipc(&["--devices", "1,GPU-70656572-6d61-702d-7369-6d0000000001"]), 2, &["1"]);
}

#[test]
fn more_devices_than_there_are() {
    refuses(&mut memmap_ipc(&["--profile", "h200-x2", "--devices", "0,1,2"]), 2, &["2"]);
}

#[test]
fn profiles_and_backends_that_do_not_exist() {
    refuses(&mut memmap_ipc(&["--profile", "h100"]), 2, &["h100", "h200-x2"]);
    refuses(peermap().args(["run", "memmap-ipc", "--backend", "hip"]), 2, &["hip"]);
    refuses(peermap().args(["run", "memmap-ipc", "--backend", "cuda", "--profile", "nvl72"]), 2, &["--profile"]);
}

#[test]
fn counts_and_times_of_nothing() {
    refuses(&mut memmap_ipc(&["--processes-per-device", "0"]), 2, &["--processes-per-device"]);
    refuses(&mut memmap_ipc(&["--timeout", "0"]), 2, &["--timeout"]);
}

#[test]
fn ids_that_do_not_fit_a_byte() {
    let asked = ["--fill", "id", "--processes-per-device", "40"];
    refuses(&mut memmap_ipc(&asked), 2, &["320 workers", "--fill pattern"]);
    refuses(memmap_ipc(&asked).args(["--devices", "0,1,2,3,4,5,6"]), 2, &["280 workers"]);
}

#[test]
fn kernels_that_are_not_there() {
    refuses(&mut memmap_ipc(&["--kernels", "/nowhere"]), 2, &["/nowhere"]);
}

#[test]
fn nothing_visible_is_no_usable_device() {
    refuses(memmap_ipc(&[]).env("CUDA_VISIBLE_DEVICES", ""), 12, &["CUDA_VISIBLE_DEVICES"]);
}

#[test]
fn a_cubin_is_not_modelled() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("memmap_ipc.cubin"), b"\x7fELF not really").unwrap();
    let kernels = folder.path().to_str().unwrap();
    let output = run(&mut memmap_ipc(&["--profile", "h200-x2", "--kernels", kernels]));
    assert_eq!(output.status.code(), Some(14), "{}", stderr(&output));
    assert!(stderr(&output).contains("not modelled: a cubin"), "{}", stderr(&output));
}

/// What a run says with kernels in which one text stands for another.
fn with_changed_kernels(from: &str, to: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels/memmap_ipc.ptx")).unwrap();
    let changed = text.replace(from, to);
    assert_ne!(changed, text, "the kernels have {from:?}");
    fs::write(folder.path().join("memmap_ipc.ptx"), changed).unwrap();
    run(&mut memmap_ipc(&["--profile", "h200-x2", "--kernels", folder.path().to_str().unwrap()]))
}

#[test]
fn kernels_of_ones_own_run() {
    let output = with_changed_kernels("st.global.v2.u64", "st.global.cs.v2.u64");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn kernels_with_what_is_not_covered_are_not_modelled() {
    let output = with_changed_kernels("%ctaid.x", "%pm0");
    assert_eq!(output.status.code(), Some(14), "{}", stderr(&output));
    assert!(stderr(&output).contains("line 24: the special register"), "{}", stderr(&output));
}

#[test]
fn broken_kernels_are_a_driver_error_with_the_log() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("memmap_ipc.ptx"), ".version 8.0\n.target sm_90\n.address_size 64\n.entry (\n")
        .unwrap();
    let kernels = folder.path().to_str().unwrap();
    let output = run(&mut memmap_ipc(&["--profile", "h200-x2", "--kernels", kernels]));
    assert_eq!(output.status.code(), Some(16), "{}", stderr(&output));
    assert!(stderr(&output).contains("line 4"), "{}", stderr(&output));
}

#[test]
fn too_few_descriptors() {
    let exe = env!("CARGO_BIN_EXE_peermap");
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -Sn 24; ulimit -Hn 24; exec \"$0\" run memmap-ipc --backend sim", exe]);
    refuses(&mut shell, 1, &["ulimit -n"]);
}

#[test]
fn the_hidden_subcommands_are_not_for_hands() {
    refuses(peermap().args(["__worker", "--backend", "sim"]), 2, &["by hand"]);
    refuses(peermap().args(["__machine", "--profile", "default"]), 2, &["by hand"]);
}
