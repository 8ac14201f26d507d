//! More workers than cores.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use peermap_testing::{children, children_that_are, is_alive, leftovers, wait_for};

use crate::support::{json, run, simple_ipc, stderr};

const WORKERS: usize = 300;

/// A run with so many workers on two devices, in which each opens the handles of all.
fn of_300() -> Command {
    let many = ["--processes-per-device", "150", "--size", "64KiB", "--steps", "1", "--timeout", "600", "--json"];
    simple_ipc(&[["--profile", "g64k"].as_slice(), &many].concat())
}

fn workers(run: u32) -> Vec<u32> {
    children_that_are("__worker", run)
}

pub fn three_hundred_workers_on_the_cores_of_this_host() {
    let before = leftovers();
    let output = run(&mut of_300());
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(json(&output)["workers"].as_array().map(Vec::len), Some(WORKERS));
    assert_eq!(leftovers(), before);
}

pub fn one_of_300_workers_that_is_killed_ends_the_run_within_a_second() {
    let run = of_300().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    wait_for("all workers", || workers(run.id()).len() == WORKERS);
    let (victim, all) = (workers(run.id())[WORKERS / 2], children(run.id()));
    let killed = Instant::now();
    kill(Pid::from_raw(victim.cast_signed()), Signal::SIGKILL).unwrap();
    let output = run.wait_with_output().unwrap();
    let took = killed.elapsed();
    assert_eq!(output.status.code(), Some(13), "{}", stderr(&output));
    let message = json(&output)["failure"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains(&victim.to_string()) && message.contains("SIGKILL"), "{message}");
    assert!(all.iter().all(|pid| !is_alive(*pid)), "a process stays");
    assert!(took < Duration::from_secs(1), "took {took:?}");
}
