//! `peermap run host-numa` with real processes.

use std::time::Duration;

use crate::support::{WORKERS, assert_killing_ends, assert_refused, json, run, scenario, stderr};

#[test]
fn the_table_shows_rights_apart() {
    let output = run(&mut scenario("host-numa", &["--profile", "h200-x2", "--size", "2MiB"]));
    assert!(output.status.success(), "{}", stderr(&output));
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = table.lines().map(words).collect();
    for line in [
        "device rights kernel write kernel read cpu write cpu read",
        "0 device alone done done CUDA_ERROR_ILLEGAL_ADDRESS CUDA_ERROR_ILLEGAL_ADDRESS",
        "1 host alone CUDA_ERROR_ILLEGAL_ADDRESS - done done",
    ] {
        assert!(lines.iter().any(|shown| shown == line), "{line}: {table}");
    }
}

#[test]
fn it_runs_on_every_profile_that_maps_memory_of_the_host() {
    for (profile, workers) in WORKERS {
        let output = run(&mut scenario("host-numa", &["--profile", profile, "--size", "2MiB", "--json"]));
        let report = json(&output);
        match profile {
            "no-host-numa" => assert_eq!(output.status.code(), Some(12), "{}", stderr(&output)),
            _ => {
                assert!(output.status.success(), "{profile}: {}", stderr(&output));
                assert_eq!(report["workers"].as_array().unwrap().len(), workers, "{profile}");
            }
        }
    }
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    for (arguments, code, word) in [
        (&["--size", "0"][..], 2, "--size"),
        (&["--size", "3MiB"], 2, "granularity"),
        (&["--size", "100TiB"], 2, "at most"),
        (&["--fill", "id"], 2, "--fill"),
        (&["--profile", "no-host-numa"], 12, "no virtual memory management of memory of the host"),
        (&["--devices", "0,1", "--profile", "no-peer"], 12, "no peer access both ways"),
    ] {
        assert_refused(&mut scenario("host-numa", arguments), code, word);
    }
}

#[test]
fn a_killed_worker_ends_the_run_within_a_second_and_nothing_is_left() {
    let arguments = ["--profile", "h200-x2", "--size", "64MiB", "--processes-per-device", "2", "--json"];
    assert_killing_ends(&mut scenario("host-numa", &arguments), 4, Duration::ZERO);
}
