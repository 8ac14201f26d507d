//! `peermap run pool-ipc` with real processes.

use crate::support::{WORKERS, assert_refused, complaints, json, run, scenario, stderr};

#[test]
fn it_runs_on_every_profile_whose_pools_can_be_shared() {
    for (profile, workers) in WORKERS.into_iter().filter(|(profile, _)| *profile != "no-pools") {
        let output =
            run(&mut scenario("pool-ipc", &["--profile", profile, "--size", "2MiB", "--verify", "all", "--json"]));
        assert!(output.status.success(), "{profile}: {}", stderr(&output));
        let report = json(&output);
        assert_eq!((&report["scenario"], &report["options"]["handles"]), (&"pool-ipc".into(), &"pool".into()));
        assert_eq!(report["workers"].as_array().unwrap().len(), workers, "{profile}");
    }
}

#[test]
fn work_without_order_is_a_mismatch() {
    let arguments = ["--profile", "h200-x2", "--size", "2MiB", "--order", "none"];
    let output = run(&mut scenario("pool-ipc", &arguments));
    assert_eq!(output.status.code(), Some(11), "{}", stderr(&output));
    assert!(complaints(&output)[0].contains("mismatch: worker "), "{}", stderr(&output));
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    for (arguments, code, word) in [
        (&["--handles", "fd"][..], 2, "pool or legacy"),
        (&["--handles", "legacy", "--profile", "h200-x2"], 16, "cuIpcGetMemHandle"),
        (&["--size", "1TiB"], 2, "at most"),
        (&["--profile", "no-pools"], 12, "memory pools cannot be shared as file descriptors"),
        (&["--devices", "0,1", "--profile", "no-peer"], 12, "no peer access both ways"),
    ] {
        assert_refused(&mut scenario("pool-ipc", arguments), code, word);
    }
}
