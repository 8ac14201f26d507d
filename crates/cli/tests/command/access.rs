//! `peermap run access` with real processes.

use std::time::Duration;

use crate::support::{WORKERS, assert_killing_ends, assert_refuses_as_seated, json, run, scenario, stderr};

/// Workers of each device.
const SEATS: usize = 7;

#[test]
fn the_table_shows_what_came_of_each_try() {
    let output = run(&mut scenario("access", &["--profile", "h200-x2"]));
    assert!(output.status.success(), "{}", stderr(&output));
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = table.lines().map(words).collect();
    for line in [
        "device rights copy set load store",
        "0 none CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_ILLEGAL_ADDRESS CUDA_ERROR_ILLEGAL_ADDRESS",
        "1 read done CUDA_ERROR_INVALID_VALUE done CUDA_ERROR_ILLEGAL_ADDRESS",
        "1 raised to read-write done done done done",
    ] {
        assert!(lines.iter().any(|shown| shown == line), "{line}: {table}");
    }
}

#[test]
fn it_runs_on_every_profile() {
    for (profile, _) in WORKERS {
        let output =
            run(&mut scenario("access", &["--profile", profile, "--devices", "0", "--size", "2MiB", "--json"]));
        assert!(output.status.success(), "{profile}: {}", stderr(&output));
        let report = json(&output);
        assert_eq!((&report["scenario"], &report["ok"]), (&"access".into(), &true.into()));
        let workers = report["workers"].as_array().unwrap();
        assert_eq!(workers.len(), SEATS, "{profile}");
        let tries: usize = workers.iter().map(|worker| worker["tries"].as_array().unwrap().len()).sum();
        assert_eq!(tries, 24, "{profile}");
    }
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    assert_refuses_as_seated("access");
}

#[test]
fn a_killed_worker_ends_the_run_within_a_second_and_nothing_is_left() {
    let arguments = ["--profile", "h200-x2", "--size", "512MiB", "--json"];
    assert_killing_ends(&mut scenario("access", &arguments), 2 * SEATS, Duration::ZERO);
}
