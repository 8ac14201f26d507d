//! The scoreboard of known bugs.

use std::process::{Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::support::{assert_refused, children_that_are, complaints, json, peermap, run, stderr, wait_for};

fn bugs(arguments: &[&str]) -> Output {
    run(peermap().args(["bugs", "--backend", "sim"]).args(arguments))
}

#[test]
fn every_entry_has_a_line_with_what_catches_it_and_none_fails() {
    let output = bugs(&["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let board = json(&output);
    assert_eq!((&board["schema"], &board["backend"], &board["seed"]), (&1.into(), &"sim".into(), &1.into()));
    assert_eq!((&board["ok"], &board["failed"]), (&true.into(), &0.into()));
    let entries = board["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 32);
    for entry in entries {
        for key in ["id", "title", "source", "caught_by"] {
            assert!(!entry[key].as_str().unwrap().is_empty(), "{entry}");
        }
        assert!(entry["ms"].as_f64().unwrap() > 0.0, "{entry}");
        assert_ne!(entry["verdict"], "failed", "{entry}");
        assert_eq!(entry["why"].is_null(), entry["verdict"] == "passed", "{entry}");
    }
    let skipped: Vec<&Value> = entries.iter().filter(|entry| entry["verdict"] == "skipped").collect();
    let by_namespaces = |entry: &&Value| entry["why"].as_str().unwrap().contains("user namespace");
    assert!(skipped.iter().all(by_namespaces), "{skipped:?}");
}

#[test]
fn entries_are_chosen_by_name_in_any_letters() {
    let output = bugs(&["e4", "A1"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let table = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 4, "{table}");
    for column in ["entry", "what it is", "caught by", "ms"] {
        assert!(lines[0].contains(column), "{table}");
    }
    assert!(lines[1].contains("A1") && lines[1].contains("LEGACY-1"), "{table}");
    assert!(lines[2].contains("E4") && lines[2].contains("UNMAP-3"), "{table}");
    assert_eq!(lines[3], "2 passed, 0 failed, 0 skipped");
}

#[test]
fn other_seeds_play_other_sequences_as_well() {
    for seed in ["2", "3", "4711"] {
        let output = bugs(&["--seed", seed, "--json", "B1", "B5", "C1", "D2", "D6", "E4", "E9", "E13", "J1"]);
        assert_eq!(output.status.code(), Some(0), "{seed}: {}", stderr(&output));
        assert_eq!(json(&output)["passed"], 9);
    }
}

#[test]
fn an_entry_that_fails_is_told_with_the_command_that_plays_it_again() {
    let command = peermap()
        .args(["bugs", "--backend", "sim", "--seed", "5", "--json", "I6"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    wait_for("the process of the entry", || !children_that_are("__bug", command.id()).is_empty());
    let player = children_that_are("__bug", command.id())[0];
    kill(Pid::from_raw(i32::try_from(player).unwrap()), Signal::SIGKILL).unwrap();
    let output = command.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(11), "{}", stderr(&output));
    let board = json(&output);
    assert_eq!((&board["ok"], &board["failed"], &board["passed"]), (&false.into(), &1.into(), &0.into()));
    assert!(board["entries"][0]["why"].as_str().unwrap().contains("SIGKILL"), "{board}");
    assert!(
        complaints(&output)[0].ends_with("peermap bugs --backend sim --seed 5 I6 plays it again"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn an_entry_that_takes_too_long_has_failed() {
    let output = bugs(&["--timeout", "1", "I6"]);
    assert_eq!(output.status.code(), Some(11), "{}", stderr(&output));
    assert!(complaints(&output)[0].contains("did not end within 1 s"), "{}", stderr(&output));
}

#[test]
fn what_cannot_be_played_is_refused() {
    assert_refused(peermap().args(["bugs", "Z9"]), 2, "the entries are A1, A2");
    assert_refused(peermap().args(["bugs", "--timeout", "0"]), 2, "--timeout");
    assert_refused(peermap().args(["bugs", "--backend", "cuda", "A1"]), 12, "libcuda");
    assert_refused(peermap().args(["__bug", "--backend", "sim"]), 2, "not by hand");
}
