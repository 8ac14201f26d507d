//! `peermap run fabric` with real processes, on one simulated node and on several.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{assert_killing_ends, assert_refused, json, run, scenario, stderr};

/// The report of a run that succeeds.
fn report(arguments: &[&str]) -> Value {
    let output = run(scenario("fabric", &["--size", "2MiB", "--json"]).args(arguments));
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    json(&output)
}

/// Asserts that so many workers verified every buffer.
fn assert_all_verified(report: &Value, workers: u64) {
    let verified: Vec<u64> =
        report["workers"].as_array().unwrap().iter().filter_map(|worker| worker["verified"].as_u64()).collect();
    assert_eq!(verified, vec![workers * (2 << 20); workers as usize]);
}

#[test]
fn every_worker_of_one_node_verifies_every_buffer() {
    assert_all_verified(&report(&["--profile", "default", "--fill", "pattern"]), 8);
    assert_all_verified(&report(&["--profile", "default", "--devices", "0,1", "--processes-per-device", "2"]), 4);
}

#[test]
fn workers_of_two_nodes_share_and_devices_out_of_reach_are_named() {
    let report = report(&["--profile", "islands"]);
    assert_all_verified(&report, 4);
    let reasons: Vec<(&str, &str)> = report["rejected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["device"].as_str().unwrap(), one["reason"].as_str().unwrap()))
        .collect();
    let expected = [
        "cuMemImportFromShareableHandle answers CUDA_ERROR_NOT_PERMITTED",
        "cuMemCreate answers CUDA_ERROR_NOT_PERMITTED",
        "cuMemImportFromShareableHandle answers CUDA_ERROR_INVALID_HANDLE",
        "cuMemImportFromShareableHandle answers CUDA_ERROR_INVALID_HANDLE",
    ];
    assert_eq!(reasons.len(), 8);
    for ((device, reason), (number, expected)) in
        reasons.iter().zip((4..).zip(expected.iter().flat_map(|text| [text, text])))
    {
        assert_eq!(*device, format!("device {number}"));
        assert!(reason.contains(expected), "{device}: {reason}");
    }
}

#[test]
fn seventy_two_devices_in_eighteen_nodes_exchange_all_handles_in_time() {
    let begun = Instant::now();
    let report = report(&["--profile", "nvl72"]);
    let taken = begun.elapsed();
    assert_all_verified(&report, 72);
    assert!(taken < Duration::from_secs(20), "{taken:?}");
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    for (arguments, code, word) in [
        (&["--profile", "h200-x2"][..], 12, "cuMemCreate answers CUDA_ERROR_NOT_PERMITTED: there is no IMEX channel"),
        (&["--profile", "no-fabric"], 12, "memory cannot be shared as a fabric handle"),
        (&["--profile", "islands", "--devices", "0,10"], 12, "an IMEX daemon does not run"),
        (&["--size", "3MiB"], 2, "the next size that fits is 4 MiB"),
        (&["--size", "1TiB"], 2, "at most"),
        (&["--mistake", "lost"], 2, "none or altered or gone"),
        (&["--transport", "mpi", "--devices", "0"], 2, "do not go with --transport mpi"),
    ] {
        assert_refused(&mut scenario("fabric", arguments), code, word);
    }
}

#[test]
fn an_altered_handle_and_one_whose_memory_is_gone_are_refused() {
    for arguments in
        [["--mistake", "altered", "--devices", "0,1", "--json"], ["--mistake", "gone", "--devices", "0", "--json"]]
    {
        let output = run(&mut scenario("fabric", &arguments));
        assert_eq!(output.status.code(), Some(16), "{}", stderr(&output));
        let failure = &json(&output)["failure"];
        let said = ["step", "call", "rule"].map(|key| failure[key].as_str().unwrap());
        assert_eq!(said, ["import and map", "cuMemImportFromShareableHandle", "IMPORT-5"]);
    }
}

#[test]
fn a_killed_worker_ends_the_run_within_a_second_and_nothing_is_left() {
    let arguments = ["--profile", "islands", "--size", "256MiB", "--json"];
    assert_killing_ends(&mut scenario("fabric", &arguments), 4, Duration::ZERO);
}

#[cfg(not(feature = "mpi"))]
#[test]
fn a_build_without_mpi_says_so() {
    assert_refused(&mut scenario("fabric", &["--transport", "mpi"]), 2, "build it with --features mpi");
}
