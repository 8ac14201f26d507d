//! Who holds what memory of the machines that run.

use std::process::{Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::support::{assert_refused, children_that_are, json, memmap_ipc, peermap, run, stderr, wait_for, workers};

fn holders(arguments: &[&str]) -> Output {
    run(peermap().arg("holders").args(arguments))
}

/// The machine of a run, once it holds something.
fn machine(run: u32) -> u32 {
    let machine = || children_that_are("__machine", run).first().copied();
    wait_for("the machine", || machine().is_some());
    machine().unwrap()
}

#[test]
fn a_run_that_goes_on_shows_what_its_processes_hold() {
    let mut long = memmap_ipc(&["--size", "256MiB", "--profile", "h200-x2"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = machine(long.id()).to_string();
    let told = || holders(&["--pid", &pid, "--json"]);
    let held = |told: &Value| told["machines"][0]["held"].as_array().unwrap().clone();
    let of_parent = |told: &Value| {
        let bytes = |held: &Value| held["bytes"] == 256 << 20 && held["kept_by"][0]["what"].is_string();
        held(told).iter().filter(|held| bytes(held)).count()
    };
    wait_for("the memory of the run", || told().status.success() && of_parent(&json(&told())) == 2);
    let told = json(&told());
    assert_eq!((&told["schema"], &told["machines"][0]["profile"]), (&1.into(), &"h200-x2".into()));
    assert_eq!(told["machines"][0]["pid"].to_string(), pid);
    let known = told["machines"][0]["processes"].as_array().unwrap();
    let is_known = |worker: &u32| known.iter().any(|process| process["pid"] == *worker);
    assert!(workers(long.id()).iter().all(is_known), "{known:?}");
    let text = String::from_utf8(holders(&["--pid", &pid]).stdout).unwrap();
    assert!(text.starts_with(&format!("machine {pid} (h200-x2): 3 processes, ")), "{text}");
    assert!(text.contains("268435456 bytes on device 0, made by cuMemCreate (call "), "{text}");
    kill(Pid::from_raw(long.id().cast_signed()), Signal::SIGKILL).unwrap();
    long.wait().unwrap();
    wait_for("the end of the machine", || holders(&["--pid", &pid]).status.code() == Some(12));
}

#[test]
fn a_process_that_is_no_machine_is_refused() {
    assert_refused(peermap().args(["holders", "--pid", "1"]), 12, "process 1 is no simulated machine");
    let output = holders(&["--pid", "1", "--json"]);
    assert_eq!(
        (output.status.code(), json(&output)["exit_code"].as_u64()),
        (Some(12), Some(12)),
        "{}",
        stderr(&output)
    );
    assert_refused(peermap().args(["holders", "--pid", "none"]), 2, "invalid value");
}

#[test]
fn a_killed_worker_is_reported_with_what_is_held() {
    let long = memmap_ipc(&["--size", "256MiB", "--profile", "h200-x2", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = machine(long.id()).to_string();
    let shared = || String::from_utf8(holders(&["--pid", &pid]).stdout).unwrap().contains("mappings of process");
    wait_for("a mapping", shared);
    kill(Pid::from_raw(workers(long.id())[1].cast_signed()), Signal::SIGKILL).unwrap();
    let output = long.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(13));
    let memory = &json(&output)["failure"]["memory"];
    assert_eq!(memory["profile"], "h200-x2");
    assert!(memory["held"].as_array().unwrap().len() >= 2, "{memory}");
    assert!(memory["all_left"].as_u64().unwrap() >= 1, "{memory}");
}
