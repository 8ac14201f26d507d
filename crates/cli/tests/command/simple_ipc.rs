//! `peermap run simple-ipc` with real processes.

use std::time::Duration;

use crate::support::{
    WORKERS, assert_killing_ends, assert_refused, complaints, json, peermap, run, simple_ipc, stderr,
};

#[test]
fn the_table_and_the_json_show_the_time_of_the_ring() {
    let output = run(peermap().args(["run", "simple-ipc", "--profile", "h200-x2"]));
    assert!(output.status.success(), "{}", stderr(&output));
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(table.contains("open ms") && table.contains("ring ms"), "{table}");
    for order in ["events", "host"] {
        let arguments = ["--profile", "h200-x2", "--processes-per-device", "2", "--order", order, "--json"];
        let output = run(&mut simple_ipc(&arguments));
        assert!(output.status.success(), "{order}: {}", stderr(&output));
        let report = json(&output);
        assert_eq!((&report["schema"], &report["scenario"]), (&1.into(), &"simple-ipc".into()));
        assert_eq!((&report["ok"], &report["options"]["order"]), (&true.into(), &order.into()));
        let workers = report["workers"].as_array().unwrap();
        assert_eq!(workers.len(), 4);
        for worker in workers {
            assert_eq!((&worker["bytes"], &worker["verified"]), (&(64 << 20).into(), &(64 << 20).into()));
            assert!(worker["phases_ms"]["ring"].as_f64().unwrap() > 0.0, "{worker}");
        }
    }
}

#[test]
fn it_runs_on_every_profile() {
    for (profile, workers) in WORKERS {
        let output = run(&mut simple_ipc(&["--profile", profile, "--size", "2MiB", "--verify", "all", "--json"]));
        assert!(output.status.success(), "{profile}: {}", stderr(&output));
        assert_eq!(json(&output)["workers"].as_array().unwrap().len(), workers, "{profile}");
    }
}

#[test]
fn work_without_order_is_a_mismatch() {
    for processes in ["1", "3"] {
        let arguments =
            ["--profile", "h200-x2", "--size", "2MiB", "--order", "none", "--processes-per-device", processes];
        let output = run(&mut simple_ipc(&arguments));
        assert_eq!(output.status.code(), Some(11), "{}", stderr(&output));
        assert!(complaints(&output)[0].contains("mismatch: worker "), "{}", stderr(&output));
    }
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    for (arguments, code, word) in [
        (&["--order", "graph"][..], 2, "events or host or none"),
        (&["--steps", "0"], 2, "--steps 1 or more"),
        (&["--steps", "many"], 2, "many"),
        (&["--size", "0"], 2, "--size"),
        (&["--size", "1TiB"], 2, "at most"),
        (&["--devices", "0,1", "--profile", "no-peer"], 12, "no peer access both ways"),
    ] {
        assert_refused(&mut simple_ipc(arguments), code, word);
    }
}

#[test]
fn the_calls_of_all_processes_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.json");
    let arguments = ["--profile", "h200-x2", "--json", "--profile-calls", file.to_str().unwrap()];
    let output = run(&mut simple_ipc(&arguments));
    assert!(output.status.success(), "{}", stderr(&output));
    let report = json(&output);
    let count = |name: &str| {
        let calls = report["calls"].as_array().unwrap();
        calls.iter().find(|call| call["call"] == name).map(|call| call["count"].as_u64().unwrap())
    };
    assert_eq!(
        ["cuIpcGetMemHandle", "cuIpcOpenMemHandle", "cuIpcCloseMemHandle"].map(count),
        [Some(2), Some(4), Some(4)]
    );
    assert!(file.is_file());
}

#[test]
fn a_killed_worker_ends_the_run_within_a_second_and_nothing_is_left() {
    for delay_ms in [0, 50, 300] {
        let arguments = ["--profile", "h200-x8", "--size", "32MiB", "--steps", "1000", "--json"];
        assert_killing_ends(&mut simple_ipc(&arguments), 8, Duration::from_millis(delay_ms));
    }
}
