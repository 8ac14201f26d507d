//! `peermap run access` with real processes.

use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{
    WORKERS, children, complaints, is_alive, json, leftovers, run, scenario, stderr, wait_for, workers,
};

/// Workers of each device.
const SEATS: usize = 7;

#[test]
fn the_table_shows_what_came_of_each_try() {
    let output = run(&mut scenario("access", &["--profile", "h200-x2"]));
    assert!(output.status.success(), "{}", stderr(&output));
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = table.lines().map(words).collect();
    for line in [
        "device rights copy set load store",
        "0 none CUDA_ERROR_INVALID_VALUE CUDA_ERROR_INVALID_VALUE CUDA_ERROR_ILLEGAL_ADDRESS CUDA_ERROR_ILLEGAL_ADDRESS",
        "1 read done CUDA_ERROR_INVALID_VALUE done CUDA_ERROR_ILLEGAL_ADDRESS",
        "1 raised to read-write done done done done",
    ] {
        assert!(lines.iter().any(|shown| shown == line), "{line}: {table}");
    }
}

#[test]
fn it_runs_on_every_profile() {
    for (profile, _) in WORKERS {
        let output =
            run(&mut scenario("access", &["--profile", profile, "--devices", "0", "--size", "2MiB", "--json"]));
        assert!(output.status.success(), "{profile}: {}", stderr(&output));
        let report = json(&output);
        assert_eq!((&report["scenario"], &report["ok"]), (&"access".into(), &true.into()));
        let workers = report["workers"].as_array().unwrap();
        assert_eq!(workers.len(), SEATS, "{profile}");
        let tries: usize = workers.iter().map(|worker| worker["tries"].as_array().unwrap().len()).sum();
        assert_eq!(tries, 24, "{profile}");
    }
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    for (arguments, code, word) in [
        (&["--size", "0"][..], 2, "--size"),
        (&["--size", "3MiB"], 2, "granularity"),
        (&["--size", "1TiB"], 2, "at most"),
        (&["--processes-per-device", "2"], 2, "--processes-per-device"),
        (&["--devices", "0,1", "--profile", "no-peer"], 12, "no peer access both ways"),
    ] {
        let before = leftovers();
        let output = run(&mut scenario("access", arguments));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert_eq!(complaints(&output).len(), 1, "{arguments:?}: {}", stderr(&output));
        assert!(complaints(&output)[0].contains(word), "{arguments:?}: {}", stderr(&output));
        assert_eq!((output.stdout.len(), leftovers()), (0, before), "{arguments:?}");
    }
}

#[test]
fn a_killed_worker_ends_the_run_within_a_second_and_nothing_is_left() {
    let before = leftovers();
    let command = &mut scenario("access", &["--profile", "h200-x2", "--size", "512MiB", "--json"]);
    let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    wait_for("all workers", || workers(run.id()).len() == 2 * SEATS);
    let (victim, all) = (workers(run.id())[3], children(run.id()));
    let killed = Instant::now();
    kill(Pid::from_raw(i32::try_from(victim).unwrap()), Signal::SIGKILL).unwrap();
    let output = run.wait_with_output().unwrap();
    let took = killed.elapsed();
    assert!(took < Duration::from_secs(1), "took {took:?}");
    assert_eq!(output.status.code(), Some(13), "{}", stderr(&output));
    let message = json(&output)["failure"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains(&victim.to_string()) && message.contains("SIGKILL"), "{message}");
    assert!(all.iter().all(|pid| !is_alive(*pid)), "a process stays");
    assert_eq!(leftovers(), before);
}
