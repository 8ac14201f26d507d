//! Results of other tools. The inputs are written from the format's description and not recorded.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::support::{complaints, json, peermap, run, stderr};

const PASSED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/nvbandwidth/data/passed.json");
const FAILED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/nvbandwidth/data/failed.json");

fn import(files: &[&str], out: Option<&Path>) -> Output {
    let mut command = peermap();
    command.args(["import", "nvbandwidth"]).args(files);
    run(command.args(out.map(|_| "--out")).args(out))
}

#[test]
fn what_failed_is_skipped_and_said() {
    let output = import(&[FAILED], None);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report = json(&output);
    assert_eq!((&report["kind"], &report["source"]), (&"bench".into(), &"nvbandwidth".into()));
    assert_eq!(report["skipped"].as_array().unwrap().len(), 5);
    let said = stderr(&output);
    assert!(said.contains("nvbandwidth warned: an invented warning\n"), "{said}");
    assert!(said.contains("skipped: nvbandwidth/device_to_device_memcpy_read_ce: waived\n"), "{said}");
    assert!(said.ends_with("1 benchmarks, 5 skipped\n"), "{said}");
}

#[test]
fn several_runs_can_be_compared_and_one_alone_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (one, four) = (folder.path().join("one.json"), folder.path().join("four.json"));
    assert_eq!(import(&[PASSED], Some(&one)).status.code(), Some(0));
    assert_eq!(import(&[PASSED; 4], Some(&four)).status.code(), Some(0));
    let alone = run(peermap().arg("compare").args([&one, &one]));
    assert_eq!(alone.status.code(), Some(15), "{}", stderr(&alone));
    let several = run(peermap().arg("compare").args([&four, &four]));
    assert_eq!(several.status.code(), Some(0), "{}", stderr(&several));
}

#[test]
fn what_cannot_be_imported_is_named_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.json");
    let text = folder.path().join("text.json");
    fs::write(&text, "running no_such_test").unwrap();
    let text = text.to_str().unwrap();
    for (files, word) in [(&[text][..], text), (&["/nowhere/x.json"], "/nowhere/x.json"), (&[PASSED, FAILED], FAILED)] {
        let output = import(files, Some(&out));
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(complaints(&output)[0].contains(word), "{}", stderr(&output));
        assert!(!out.exists());
    }
}

#[test]
fn samples_of_any_program_become_a_result_of_the_same_machine() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, theirs, out] = ["ours.json", "theirs.json", "out.json"].map(|name| folder.path().join(name));
    let bench =
        ["bench", "--backend", "sim", "--suite", "control", "--filter", "memory=own/size=2 MiB", "--samples", "9"];
    assert_eq!(run(peermap().args(bench).arg("--out").arg(&ours)).status.code(), Some(0));
    let text = r#"{"benchmarks": [{"suite": "control", "name": "cuMemMap", "parameters": {"memory": "own", "size": "2 MiB"},
        "unit": "ns", "samples": [1000000, 1000001, 1000002, 1000003]}]}"#;
    fs::write(&theirs, text).unwrap();
    let mut import = peermap();
    import.args(["import", "samples"]).arg(&theirs).arg("--like").arg(&ours);
    let output = run(import.arg("--out").arg(&out));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // A millisecond is more than a simulated mapping takes, on any host.
    let output = run(peermap().arg("compare").args([&out, &ours]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("0 slower, 1 faster") && text.contains("8 added"), "{text}");
}

#[test]
fn what_has_no_samples_or_no_machine_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("theirs.json");
    fs::write(&theirs, "cuMemMap 1000").unwrap();
    let like = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/results/schema-1.json");
    for (like, word) in
        [(like, "theirs.json: it has no `benchmarks`"), ("/nowhere.json", "/nowhere.json cannot be read")]
    {
        let output = run(peermap().args(["import", "samples", "--like", like]).arg(&theirs));
        assert_eq!(output.status.code(), Some(2));
        assert!(complaints(&output)[0].contains(word), "{}", stderr(&output));
    }
}
