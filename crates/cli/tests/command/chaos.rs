//! Runs in which something goes wrong.

use std::process::Output;

use crate::support::{complaints, json, peermap, run, stderr};

fn chaos(arguments: &[&str]) -> Output {
    run(peermap().arg("chaos").args(arguments))
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn seeds_in_one_process_are_counted_by_their_ends() {
    let output = chaos(&["memmap-ipc", "--seeds", "40", "--budget", "5m", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let board = json(&output);
    assert_eq!((&board["ok"], &board["played"], &board["processes"]), (&true.into(), &40.into(), &"in-one".into()));
    let ends = board["ends"].as_object().unwrap();
    assert_eq!(ends.values().map(|count| count.as_u64().unwrap()).sum::<u64>(), 40);
    assert!(ends["verified"].as_u64().unwrap() > 5 && ends["Driver"].as_u64().unwrap() > 5, "{board}");
    assert!(board["failed"].as_array().unwrap().is_empty(), "{board}");
}

#[test]
fn every_scenario_ends_as_it_should() {
    for scenario in ["memmap-ipc", "simple-ipc", "pool-ipc", "compressible", "access"] {
        let output = chaos(&[scenario, "--seed", "100", "--seeds", "10", "--budget", "5m", "--json"]);
        assert_eq!(output.status.code(), Some(0), "{scenario}: {}", stderr(&output));
        assert_eq!(json(&output)["played"], 10, "{scenario}");
    }
}

#[test]
fn machines_with_few_devices_or_without_peers_are_played_with_what_they_have() {
    for (scenario, profile) in [("memmap-ipc", "h200-x2"), ("memmap-ipc", "no-peer"), ("simple-ipc", "islands")] {
        let output = chaos(&[scenario, "--profile", profile, "--seeds", "24", "--budget", "5m"]);
        assert_eq!(output.status.code(), Some(0), "{scenario} {profile}: {}", stderr(&output));
    }
    for seeds in ["2", "200"] {
        let output = chaos(&["pool-ipc", "--profile", "no-pools", "--seeds", seeds]);
        assert_eq!(output.status.code(), Some(12), "{}", stderr(&output));
        assert!(stderr(&output).contains("although nothing goes wrong"), "{}", stderr(&output));
    }
}

#[test]
fn processes_of_their_own_die_stop_and_lose_messages() {
    let output = chaos(&["memmap-ipc", "--processes", "separate", "--seeds", "12", "--budget", "5m", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let board = json(&output);
    assert_eq!((&board["ok"], &board["played"]), (&true.into(), &12.into()));
}

#[test]
fn the_last_seed_is_a_seed() {
    let output = chaos(&["memmap-ipc", "--seed", &u64::MAX.to_string(), "--seeds", "3", "--json"]);
    assert_eq!(json(&output)["played"], 1, "{}", stderr(&output));
}

#[test]
fn a_parent_that_is_killed_takes_all_its_processes_along() {
    for event in ["2", "60"] {
        let fault = format!("kill:parent:{event}");
        let separate = ["simple-ipc", "--processes", "separate", "--seeds", "3", "--fault", &fault, "--json"];
        let output = chaos(&separate);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(json(&output)["ends"], serde_json::json!({"parent killed": 3}));
    }
    // This one ends before it comes to that.
    let late = ["simple-ipc", "--processes", "separate", "--seeds", "1", "--fault", "kill:parent:60000", "--json"];
    assert_eq!(json(&chaos(&late))["ends"], serde_json::json!({"verified": 1}));
}

#[test]
fn the_same_seed_prints_the_same_events() {
    let log = || text(&chaos(&["simple-ipc", "--seed", "3", "--seeds", "1", "--log"]));
    let events = |text: String| text.lines().filter(|line| !line.contains(" seeds in ")).map(str::to_owned).collect();
    let first: Vec<String> = events(log());
    assert!(first.len() > 100, "{first:?}");
    assert_eq!(first, events(log()));
}

#[test]
fn named_faults_take_the_place_of_those_of_the_seed() {
    let output = chaos(&["memmap-ipc", "--seed", "1", "--seeds", "1", "--fault", "kill:0:5", "--log"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(text(&output).contains("worker 0 ends: killed by SIGKILL"), "{}", text(&output));
    assert!(text(&output).contains("ends: 1 WorkerDied"), "{}", text(&output));
}

#[test]
fn what_cannot_be_is_refused() {
    for (arguments, words) in [
        (&["memmap-ipc", "--fault", "burn:0:1"][..], "is no fault"),
        (&["memmap-ipc", "--budget", "1x"][..], "is no time"),
        (&["memmap-ipc", "--seeds", "0"][..], "0 is not in 1.."),
        (&["memmap-ipc", "--profile", "nothing"][..], "nothing"),
        (&["memmap-ipc", "--fault", "files:0:0:0"][..], "--processes separate only"),
        (&["memmap-ipc", "--seed", "1", "--seeds", "1", "--fault", "kill:7:0"][..], "no worker 7"),
        (&["memmap-ipc", "--processes", "separate", "--log"][..], "--log is for processes in one"),
        (&["dance"][..], "dance"),
    ] {
        let output = chaos(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
        assert!(!complaints(&output).is_empty() || stderr(&output).contains("error"), "{arguments:?}");
    }
}
