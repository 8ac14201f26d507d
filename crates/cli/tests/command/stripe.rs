//! `peermap run stripe` with real processes.

use std::time::Duration;

use crate::support::{WORKERS, assert_killing_ends, assert_refused, json, run, scenario, stderr};

#[test]
fn the_table_tells_when_each_device_was_done_and_the_gap() {
    for balance in ["even", "by-device", "dynamic"] {
        let output = run(&mut scenario("stripe", &["--profile", "unequal", "--balance", balance]));
        assert!(output.status.success(), "{}", stderr(&output));
        let table = String::from_utf8_lossy(&output.stdout).into_owned();
        for worker in 0..2 {
            let line = table.lines().find(|line| line.starts_with(&format!("worker {worker}: added ")));
            let line = line.unwrap_or_else(|| panic!("{table}"));
            assert!(line.ends_with("0 copies when the last device joined"), "{line}");
        }
        let gap = table.lines().find(|line| line.starts_with("done after ")).unwrap_or_else(|| panic!("{table}"));
        assert!(gap.contains(" ms: a gap of ") && gap.ends_with("% of the longest"), "{gap}");
    }
}

#[test]
fn it_runs_on_every_profile() {
    for (profile, workers) in WORKERS {
        let arguments = ["--profile", profile, "--size", "8MiB", "--balance", "dynamic", "--json"];
        let output = run(&mut scenario("stripe", &arguments));
        assert!(output.status.success(), "{profile}: {}", stderr(&output));
        let report = json(&output);
        assert_eq!((&report["scenario"], &report["options"]["balance"]), (&"stripe".into(), &"dynamic".into()));
        let all = report["workers"].as_array().unwrap();
        assert_eq!(all.len(), workers, "{profile}");
        let here = |worker: &serde_json::Value| worker["striped"]["stripes_here"].as_u64().unwrap();
        assert_eq!(all.iter().map(here).sum::<u64>(), 4, "{profile}");
    }
}

#[test]
fn its_kernels_pass_every_check() {
    let output = run(&mut scenario("stripe", &["--profile", "h200-x2", "--size", "8MiB", "--check", "all"]));
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    for (arguments, code, word) in [
        (&["--size", "0"][..], 2, "--size"),
        (&["--stripe", "0"], 2, "--stripe"),
        (&["--stripe", "3MiB", "--size", "12MiB"], 2, "granularity"),
        (&["--size", "1GiB"], 2, "whole stripes"),
        (&["--balance", "fair"], 2, "--balance"),
        (&["--devices", "0,1", "--profile", "no-peer"], 12, "no peer access both ways"),
    ] {
        assert_refused(&mut scenario("stripe", arguments), code, word);
    }
}

#[test]
fn what_fits_of_a_vector_that_does_not_is_named() {
    let arguments = ["--profile", "h200-x2", "--stripe", "512MiB"];
    let refused = stderr(&run(scenario("stripe", &arguments).args(["--size", "128GiB"])));
    let most = refused.trim().rsplit_once("use a --size of at most ").map(|(_, most)| most.replace(' ', ""));
    let most: peermap_driver::ByteSize = most.unwrap_or_else(|| panic!("{refused}")).parse().unwrap();
    assert!(most.is_multiple_of(peermap_driver::ByteSize::mib(512)) && !most.is_zero(), "{refused}");
}

#[test]
fn a_killed_worker_ends_the_run_within_a_second_and_nothing_is_left() {
    let arguments = ["--profile", "h200-x8", "--size", "512MiB", "--stripe", "8MiB", "--json"];
    assert_killing_ends(&mut scenario("stripe", &arguments), 8, Duration::ZERO);
}
