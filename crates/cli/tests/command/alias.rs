//! `peermap run alias` with real processes.

use std::time::Duration;

use crate::support::{WORKERS, assert_killing_ends, assert_refuses_as_seated, json, run, scenario, stderr};

#[test]
fn the_table_tells_what_came_of_each_case() {
    let output = run(&mut scenario("alias", &["--profile", "h200-x2", "--size", "2MiB"]));
    assert!(output.status.success(), "{}", stderr(&output));
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    for (worker, start) in [
        (1, "foo1, then foo2, defined: 262144 of 262144 words read as written"),
        (0, "fenced foo, defined: 262144 of 262144 words read as written"),
        (2, "foo, undefined: reported: kernel \"foo\", "),
        (5, "early reader, undefined: reported: kernel \"early_reader\", "),
    ] {
        assert!(table.lines().any(|line| line.starts_with(&format!("worker {worker}: {start}"))), "{start}: {table}");
    }
}

#[test]
fn it_runs_on_every_profile_with_every_check() {
    for (profile, _) in WORKERS {
        let arguments = ["--profile", profile, "--devices", "0", "--size", "2MiB", "--check", "all", "--json"];
        let output = run(&mut scenario("alias", &arguments));
        assert!(output.status.success(), "{profile}: {}", stderr(&output));
        let report = json(&output);
        assert_eq!((&report["scenario"], &report["options"]["watched"]), (&"alias".into(), &"true".into()));
        let workers = report["workers"].as_array().unwrap();
        let reported = |worker: &serde_json::Value| {
            let uses = worker["alias_uses"].as_array().unwrap();
            uses.iter().map(|told| !told["report"].is_null()).collect::<Vec<_>>()
        };
        let reported: Vec<_> = workers.iter().map(reported).collect();
        assert_eq!(reported, [vec![false, false], vec![true], vec![true]], "{profile}");
    }
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    assert_refuses_as_seated("alias");
}

#[test]
fn kernels_that_are_not_beside_the_others_are_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("memmap_ipc.ptx"), include_str!("../../../../kernels/memmap_ipc.ptx")).unwrap();
    let output = run(&mut scenario("alias", &["--kernels", folder.path().to_str().unwrap()]));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("alias.ptx"), "{}", stderr(&output));
}

#[test]
fn a_killed_worker_ends_the_run_within_a_second_and_nothing_is_left() {
    let arguments = ["--profile", "h200-x2", "--size", "256MiB", "--json"];
    assert_killing_ends(&mut scenario("alias", &arguments), 6, Duration::ZERO);
}
