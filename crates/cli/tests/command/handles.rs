//! `peermap run memmap-ipc` with handles of each type, and with sizes that are padded.

use serde_json::Value;

use crate::support::{assert_refused, json, memmap_ipc, run, stderr};

/// The report of a run that succeeds, with every buffer verified by every worker.
fn report(arguments: &[&str]) -> Value {
    let output = run(memmap_ipc(&["--verify", "all", "--json"]).args(arguments));
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    json(&output)
}

fn remarks(report: &Value) -> Vec<&str> {
    report["remarks"].as_array().map_or_else(Vec::new, |all| all.iter().filter_map(Value::as_str).collect())
}

#[test]
fn buffers_are_shared_as_asked_for() {
    for (handle, profile) in [("fd", "h200-x2"), ("fd", "default"), ("fabric", "default")] {
        let report = report(&["--handle", handle, "--profile", profile]);
        assert_eq!(report["options"]["handle"], handle);
        assert!(remarks(&report).is_empty(), "{report}");
    }
}

#[test]
fn auto_takes_fabric_handles_where_they_work_and_descriptors_elsewhere() {
    for (profile, said) in [
        ("default", "the buffers are shared as fabric handles"),
        (
            "h200-x2",
            "the buffers are shared as descriptors: cuMemCreate answers CUDA_ERROR_NOT_PERMITTED: \
             there is no IMEX channel, or not the same one",
        ),
        (
            "no-fabric",
            "the buffers are shared as descriptors: cuMemCreate answers CUDA_ERROR_NOT_SUPPORTED: the device has none",
        ),
    ] {
        assert_eq!(remarks(&report(&["--handle", "auto", "--profile", profile])), [said], "{profile}");
    }
}

#[test]
fn a_padded_size_is_used_as_asked_for_and_the_waste_is_said() {
    let report = report(&["--size", "3MiB", "--round-up", "--profile", "h200-x2"]);
    let said = "buffers of 3 MiB are padded to 4 MiB: 1 MiB of each and 2 MiB in all are not used";
    assert_eq!(remarks(&report), [said]);
    let used = |worker: &Value| (worker["bytes"].as_u64(), worker["verified"].as_u64());
    let workers = report["workers"].as_array().unwrap();
    assert!(workers.iter().all(|worker| used(worker) == (Some(3 << 20), Some(6 << 20))), "{report}");
}

#[test]
fn a_size_that_fits_is_not_padded() {
    assert!(remarks(&report(&["--size", "2MiB", "--round-up", "--profile", "h200-x2"])).is_empty());
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    for (arguments, code, word) in [
        (&["--handle", "nt"][..], 2, "auto or fd or fabric"),
        (&["--handle", "fabric", "--profile", "no-fabric"], 12, "memory cannot be shared as a fabric handle"),
        (&["--handle", "fabric", "--profile", "fabric-lies"], 12, "there is no IMEX channel"),
        (&["--profile", "windows"], 12, "memory cannot be shared as a file descriptor"),
        (&["--size", "3MiB"], 2, "the next size that fits is 4 MiB"),
        (&["--size", "1TiB", "--round-up"], 2, "at most"),
        (&["--size", "17592186044415MiB", "--round-up"], 2, "is no multiple of the granularity"),
    ] {
        assert_refused(&mut memmap_ipc(arguments), code, word);
    }
}
