//! `peermap run compressible` with real processes.

use crate::support::{WORKERS, assert_refused, json, run, scenario, stderr};

#[test]
fn it_runs_on_every_profile_whatever_the_memory_is() {
    for (profile, workers) in WORKERS {
        let output = run(&mut scenario("compressible", &["--profile", profile, "--verify", "all", "--json"]));
        assert!(output.status.success(), "{profile}: {}", stderr(&output));
        let report = json(&output);
        assert_eq!((&report["scenario"], &report["ok"]), (&"compressible".into(), &true.into()));
        assert_eq!(report["workers"].as_array().unwrap().len(), workers, "{profile}");
        assert_eq!(report["remarks"].as_array().unwrap().len(), 2, "{profile}");
    }
}

#[test]
fn what_the_buffers_are_is_read_back_and_said() {
    for (profile, processes, remarks) in [
        ("h200-x2", "1", ["2 of 2 buffers are compressible", "2 of 2 buffers are within reach of GPUDirect RDMA"]),
        (
            "scarce",
            "2",
            [
                "2 of 4 buffers are compressible, as all were asked to be; the others do without",
                "device 0 has no memory that is within reach of GPUDirect RDMA; the buffers do without",
            ],
        ),
    ] {
        let output =
            run(&mut scenario("compressible", &["--profile", profile, "--processes-per-device", processes, "--json"]));
        assert!(output.status.success(), "{profile}: {}", stderr(&output));
        let said = json(&output)["remarks"].clone();
        assert_eq!(said, serde_json::json!(remarks));
        let notes = stderr(&output);
        assert!(remarks.iter().all(|remark| notes.contains(remark)), "{notes}");
    }
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    for (arguments, code, word) in [
        (&["--size", "3MiB"][..], 2, "no multiple of the granularity"),
        (&["--size", "1TiB"], 2, "at most"),
        (&["--devices", "0,1", "--profile", "no-peer"], 12, "no peer access both ways"),
    ] {
        assert_refused(&mut scenario("compressible", arguments), code, word);
    }
}
