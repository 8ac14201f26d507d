//! `peermap run pool-ipc` with real processes.

use crate::support::{WORKERS, complaints, json, leftovers, pool_ipc, run, stderr};

#[test]
fn it_runs_on_every_profile_whose_pools_can_be_shared() {
    for (profile, workers) in WORKERS.into_iter().filter(|(profile, _)| *profile != "no-pools") {
        let output = run(&mut pool_ipc(&["--profile", profile, "--size", "2MiB", "--verify", "all", "--json"]));
        assert!(output.status.success(), "{profile}: {}", stderr(&output));
        let report = json(&output);
        assert_eq!((&report["scenario"], &report["options"]["handles"]), (&"pool-ipc".into(), &"pool".into()));
        assert_eq!(report["workers"].as_array().unwrap().len(), workers, "{profile}");
    }
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    for (arguments, code, word) in [
        (&["--handles", "fd"][..], 2, "pool or legacy"),
        (&["--handles", "legacy", "--profile", "h200-x2"], 16, "cuIpcGetMemHandle"),
        (&["--order", "none", "--profile", "h200-x2", "--size", "2MiB"], 11, "mismatch: worker "),
        (&["--size", "1TiB"], 2, "at most"),
        (&["--profile", "no-pools"], 12, "memory pools cannot be shared as file descriptors"),
        (&["--devices", "0,1", "--profile", "no-peer"], 12, "no peer access both ways"),
    ] {
        let before = leftovers();
        let output = run(&mut pool_ipc(arguments));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert_eq!(complaints(&output).len(), 1, "{arguments:?}: {}", stderr(&output));
        assert!(complaints(&output)[0].contains(word), "{arguments:?}: {}", stderr(&output));
        assert_eq!(leftovers(), before, "{arguments:?}");
    }
}
