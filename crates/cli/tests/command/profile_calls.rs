//! `--profile-calls`: a file that a trace viewer opens, and a summary.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use crate::support::{children, complaints, json, memmap_ipc, run, stderr, wait_for, workers};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// Runs with these arguments and the calls in `file`.
fn record(file: &Path, arguments: &[&str]) -> Output {
    run(memmap_ipc(arguments).args(["--profile-calls", file.to_str().unwrap()]))
}

/// The events in a file.
fn events(file: &Path) -> Vec<Value> {
    let trace: Value = serde_json::from_slice(&fs::read(file).expect("the file is there")).expect("it is JSON");
    assert_eq!(trace["otherData"]["clock"], "CLOCK_MONOTONIC");
    trace["traceEvents"].as_array().expect("it has events").clone()
}

/// Those of a kind.
fn of_kind<'e>(events: &'e [Value], kind: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["ph"] == kind).collect()
}

/// The names of the processes.
fn processes(events: &[Value]) -> BTreeMap<u64, &str> {
    let named = events.iter().filter(|event| event["name"] == "process_name");
    named.map(|event| (event["pid"].as_u64().unwrap(), event["args"]["name"].as_str().unwrap())).collect()
}

fn count(calls: &[&Value], name: &str) -> usize {
    calls.iter().filter(|call| call["name"] == name).count()
}

#[test]
fn the_file_has_the_calls_of_all_processes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.json");
    let output = record(&file, &["--profile", "h200-x2", "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let (report, events) = (json(&output), events(&file));
    let calls = of_kind(&events, "X");

    let names = processes(&events);
    let pid = |worker: usize| report["workers"][worker]["pid"].as_u64().unwrap();
    assert_eq!((names[&pid(0)], names[&pid(1)]), ("worker 0 (device 0)", "worker 1 (device 1)"));
    assert_eq!(names.values().filter(|name| **name == "parent").count(), 1);
    assert_eq!(
        calls.iter().map(|call| call["pid"].as_u64().unwrap()).collect::<BTreeSet<_>>(),
        names.keys().copied().collect()
    );
    for pid in names.keys() {
        let times: Vec<_> =
            calls.iter().filter(|call| call["pid"] == *pid).map(|call| (&call["ts"], &call["dur"])).collect();
        let times: Vec<_> = times.into_iter().map(|(ts, dur)| (ts.as_f64().unwrap(), dur.as_f64().unwrap())).collect();
        assert!(times.iter().all(|(ts, dur)| *ts >= 0.0 && *dur >= 0.0), "{times:?}");
        // Fractions in binary are not exact to the last digit.
        assert!(times.is_sorted_by(|one, next| one.0 + one.1 <= next.0 + 0.0005), "{times:?}");
    }

    assert_eq!(["cuInit", "cuMemCreate", "cuMemMap", "cuCtxCreate"].map(|name| count(&calls, name)), [3, 2, 4, 2]);
    assert!(calls.iter().all(|call| call["args"]["result"] == "CUDA_SUCCESS"));
    let map = calls.iter().find(|call| call["name"] == "cuMemMap").unwrap();
    assert_eq!((&map["args"]["size"], &map["args"]["flags"]), (&(4 << 20).into(), &0.into()));
    assert!(map["args"]["ptr"].as_str().unwrap().starts_with("0x"), "{map}");
    assert!(of_kind(&events, "i").is_empty());
}

#[test]
fn the_summary_stands_in_the_report_and_below_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let output = record(&folder.path().join("1.json"), &["--profile", "h200-x2", "--json"]);
    let report = json(&output);
    assert_eq!(report["schema"], 1);
    let calls = report["calls"].as_array().unwrap();
    let map = calls.iter().find(|call| call["call"] == "cuMemMap").unwrap();
    assert_eq!(map["count"], 4);
    let time = |name: &str| map[name].as_f64().unwrap();
    assert!(time("p50_us") <= time("p99_us") && time("p99_us") <= time("total_us"), "{map}");

    let output = record(&folder.path().join("2.json"), &["--profile", "h200-x2"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, summary) = text.split_once("\n\n").expect("two tables");
    let words: Vec<Vec<&str>> = summary.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0], ["call", "count", "p50", "us", "p99", "us", "total", "us"]);
    assert!(words.iter().any(|row| row[..2] == ["cuMemMap", "4"]), "{text}");

    let without = json(&run(&mut memmap_ipc(&["--profile", "h200-x2", "--json"])));
    assert_eq!(without["calls"], Value::Null);
}

#[test]
fn a_refused_call_has_its_code_and_its_rule() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.json");
    let output = record(&file, &["--profile", "peers-8", "--enable-peers"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let events = events(&file);
    let refused: Vec<_> = events.iter().filter(|event| event["args"]["rule"].is_string()).collect();
    assert_eq!(refused[0]["name"], "cuCtxEnablePeerAccess");
    assert_eq!(refused[0]["args"]["result"], "CUDA_ERROR_TOO_MANY_PEERS");
    assert!(refused[0]["args"]["rule"].as_str().unwrap().starts_with("PEER-"), "{}", refused[0]);
}

#[test]
fn a_run_that_fails_leaves_its_file_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.json");
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.entry (\n";
    fs::write(folder.path().join("memmap_ipc.ptx"), text).unwrap();
    let output = record(&file, &["--profile", "h200-x2", "--kernels", folder.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(16), "{}", stderr(&output));
    let events = events(&file);
    let load = events.iter().find(|event| event["name"] == "cuModuleLoadDataEx").unwrap();
    assert_eq!(load["args"]["result"], "CUDA_ERROR_INVALID_PTX");
    // What was loaded is there by its length only.
    assert_eq!(load["args"]["image"], text.len());
}

#[test]
fn a_killed_worker_is_said_to_have_taken_its_calls_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.json");
    let mut command = memmap_ipc(&["--size", "256MiB", "--profile", "h200-x8"]);
    let command = command.args(["--profile-calls", file.to_str().unwrap()]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = command.spawn().expect("the command starts");
    wait_for("eight workers", || workers(run.id()).len() == 8);
    // By then they all have their work.
    std::thread::sleep(std::time::Duration::from_millis(250));
    let victim = workers(run.id())[3];
    kill(Pid::from_raw(i32::try_from(victim).unwrap()), Signal::SIGKILL).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(13));
    let events = events(&file);
    let lost = of_kind(&events, "i");
    let of_victim = lost.iter().find(|event| event["pid"] == victim).expect("it is said");
    assert_eq!((&of_victim["name"], &of_victim["args"]["reason"]), (&"calls lost".into(), &"killed by SIGKILL".into()));
    assert!(of_kind(&events, "X").iter().any(|call| call["name"] == "cuMemCreate"));
}

#[test]
fn a_file_that_cannot_be_is_said_before_anything_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("taken.json");
    fs::write(&taken, "worth keeping").unwrap();
    for (file, words) in [
        (taken.as_path(), ["taken.json", "exists already"]),
        (Path::new("/nowhere/calls.json"), ["/nowhere/calls.json", "cannot be created"]),
        (Path::new("/"), ["/", "cannot be created"]),
    ] {
        let output = record(file, &["-v"]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
        // Not even the line that says what is run.
        assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
        let complaint = &complaints(&output)[0];
        assert!(words.iter().all(|word| complaint.contains(word)), "{complaint}");
    }
    assert_eq!(fs::read_to_string(&taken).unwrap(), "worth keeping");
}

#[test]
fn a_run_that_was_asked_for_what_cannot_be_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let output = record(&folder.path().join("calls.json"), &["--size", "3000000"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_killed_run_leaves_nothing_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.json");
    let mut command = memmap_ipc(&["--size", "256MiB", "--profile", "h200-x8"]);
    let command = command.args(["--profile-calls", file.to_str().unwrap()]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = command.spawn().expect("the command starts");
    wait_for("its processes", || children(run.id()).len() == 9);
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_name_that_is_taken_meanwhile_is_kept_and_fails_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.json");
    let mut command = memmap_ipc(&["--profile", "h200-x2", "--json", "--size", "128MiB"]);
    let command =
        command.args(["--profile-calls", file.to_str().unwrap()]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = command.spawn().expect("the command starts");
    wait_for("its workers", || workers(run.id()).len() == 2);
    fs::write(&file, "first come").unwrap();
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report = json(&output);
    assert_eq!((&report["ok"], &report["workers"][0]["verified"]), (&false.into(), &(128 << 20).into()));
    assert!(report["failure"]["message"].as_str().unwrap().contains("exists already"), "{}", report["failure"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "first come");
}
