//! `peermap run memmap-ipc` with handles of each type, and with sizes that are padded.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::support::{assert_refused, json, memmap_ipc, run, stderr};

/// The report of a run that succeeds, with every buffer verified by every worker.
fn report(arguments: &[&str]) -> Value {
    let output = run(memmap_ipc(&["--verify", "all", "--json"]).args(arguments));
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    json(&output)
}

/// The report of such a run, with the types of handles that its workers imported.
fn imported(arguments: &[&str]) -> (Value, BTreeSet<String>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.json");
    let report = report(&[arguments, &["--profile-calls", file.to_str().unwrap()]].concat());
    let calls: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let workers: BTreeSet<_> =
        report["workers"].as_array().unwrap().iter().filter_map(|worker| worker["pid"].as_u64()).collect();
    let imports = calls["traceEvents"].as_array().unwrap().iter().filter(|call| {
        call["name"] == "cuMemImportFromShareableHandle"
            && call["pid"].as_u64().is_some_and(|pid| workers.contains(&pid))
    });
    let types = imports.filter_map(|call| Some(call["args"]["handle_type"].as_str()?.to_owned())).collect();
    (report, types)
}

fn remarks(report: &Value) -> Vec<&str> {
    report["remarks"].as_array().map_or_else(Vec::new, |all| all.iter().filter_map(Value::as_str).collect())
}

/// As the driver calls a type of handle.
fn type_of(handle: &str) -> String {
    match handle {
        "fd" => "POSIX_FILE_DESCRIPTOR",
        _ => "FABRIC",
    }
    .to_owned()
}

#[test]
fn buffers_are_shared_as_asked_for() {
    for (handle, profile) in [("fd", "h200-x2"), ("fd", "default"), ("fabric", "default")] {
        let (report, imported) = imported(&["--handle", handle, "--profile", profile]);
        assert_eq!(report["options"]["handle"], handle);
        assert_eq!(imported, [type_of(handle)].into(), "{profile}");
        assert!(remarks(&report).is_empty(), "{report}");
    }
}

#[test]
fn auto_takes_fabric_handles_where_they_work_and_descriptors_elsewhere() {
    for (profile, used, said) in [
        ("default", "fabric", "the buffers are shared as fabric handles"),
        (
            "h200-x2",
            "fd",
            "the buffers are shared as descriptors: cuMemCreate answers CUDA_ERROR_NOT_PERMITTED: \
             there is no IMEX channel, or not the same one",
        ),
        (
            "no-fabric",
            "fd",
            "the buffers are shared as descriptors: cuMemCreate answers CUDA_ERROR_NOT_SUPPORTED: the device has none",
        ),
    ] {
        let (report, imported) = imported(&["--handle", "auto", "--profile", profile]);
        assert_eq!((remarks(&report).as_slice(), imported), ([said].as_slice(), [type_of(used)].into()), "{profile}");
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
