//! Processes that die in the middle: the run ends at once and names the worker, and nothing stays.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::support::{
    children, is_alive, json, leftovers, machine, memmap_ipc, peermap, scenario, stderr, wait_for, workers,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Starts a run that would take many seconds.
fn long_run(arguments: &[&str]) -> Child {
    memmap_ipc(arguments)
        .args(["--size", "256MiB", "--profile", "h200-x8", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

fn signal(pid: u32, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(pid).unwrap()), signal).expect("the process is there");
}

#[test]
fn a_killed_worker_ends_the_run_within_a_second_and_is_named() {
    for delay_ms in [0, 30, 100, 250] {
        let run = long_run(&[]);
        wait_for("eight workers", || workers(run.id()).len() == 8);
        std::thread::sleep(Duration::from_millis(delay_ms));
        let victim = workers(run.id())[3];
        let others = children(run.id());
        let killed = Instant::now();
        signal(victim, Signal::SIGKILL);
        let output = run.wait_with_output().unwrap();
        let took = killed.elapsed();
        assert!(took < Duration::from_secs(1), "took {took:?} after {delay_ms} ms");
        assert_eq!(output.status.code(), Some(13), "{}", stderr(&output));
        let failure = &json(&output)["failure"];
        assert!(failure["worker"].is_number(), "{failure}");
        let message = failure["message"].as_str().unwrap();
        assert!(message.contains(&victim.to_string()) && message.contains("SIGKILL"), "{message}");
        assert!(failure["step"].is_string(), "{failure}");
        assert!(others.iter().all(|pid| !is_alive(*pid)), "a process stays");
    }
}

#[test]
fn a_stopped_worker_ends_the_run_at_its_timeout() {
    let run = long_run(&["--timeout", "2"]);
    wait_for("eight workers", || workers(run.id()).len() == 8);
    let stopped = workers(run.id())[0];
    signal(stopped, Signal::SIGSTOP);
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(13), "{}", stderr(&output));
    assert!(!is_alive(stopped));
}

/// Its neighbour comes no further than it: on the device it waits for the stopped one's work.
#[test]
fn a_stopped_worker_is_named_whoever_waits_for_it() {
    for victim in [0, 1] {
        let arguments = ["--profile", "h200-x2", "--size", "64MiB", "--steps", "5000", "--timeout", "3", "--json"];
        let run = scenario("simple-ipc", &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for("two workers", || workers(run.id()).len() == 2);
        std::thread::sleep(Duration::from_millis(500));
        let stopped = workers(run.id())[victim];
        signal(stopped, Signal::SIGSTOP);
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(13), "{}", stderr(&output));
        assert_eq!(json(&output)["failure"]["pid"], stopped);
    }
}

#[test]
fn a_stopped_machine_ends_the_run_soon_after_its_timeout_and_is_named() {
    let (mut run, begun) = (long_run(&["--timeout", "6"]), Instant::now());
    // Until then the parent asks the machine itself, and waits ten seconds for an answer.
    let mut told = BufReader::new(run.stderr.take().unwrap()).lines();
    assert!(told.any(|line| line.unwrap().contains("step 1 of")), "the ring begins");
    let machine = machine(run.id());
    signal(machine, Signal::SIGSTOP);
    let output = run.wait_with_output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
    assert_eq!(output.status.code(), Some(13));
    let message = format!("the simulated machine (pid {machine}) did not answer and was ended");
    assert_eq!(json(&output)["failure"]["message"], message);
    assert!(!is_alive(machine));
}

#[test]
fn nothing_survives_a_killed_parent() {
    let before = leftovers();
    let mut run = long_run(&[]);
    wait_for("eight workers", || workers(run.id()).len() == 8);
    let all = children(run.id());
    assert!(all.len() >= 9, "eight workers and the machine");
    signal(run.id(), Signal::SIGKILL);
    run.wait().unwrap();
    wait_for("the end of every child", || all.iter().all(|pid| !is_alive(*pid)));
    assert_eq!(leftovers(), before);
}

/// The workers of this scenario wait in kernels, and ask the machine for nothing meanwhile.
#[test]
fn a_dead_machine_ends_a_run_whose_workers_do_not_notice() {
    let mut run = peermap();
    run.args(["run", "alias", "--profile", "h200-x8", "--json"]);
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("eight workers", || workers(run.id()).len() == 8);
    std::thread::sleep(Duration::from_secs(1));
    let machine = machine(run.id());
    signal(machine, Signal::SIGKILL);
    let begun = Instant::now();
    let output = run.wait_with_output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert_eq!(json(&output)["failure"]["kind"], "machine_died");
}

#[test]
fn a_dead_machine_ends_the_run_and_is_named() {
    for delay_ms in [0, 30, 100, 250] {
        let run = long_run(&[]);
        wait_for("eight workers", || workers(run.id()).len() == 8);
        std::thread::sleep(Duration::from_millis(delay_ms));
        let workers = workers(run.id());
        let machine = machine(run.id());
        signal(machine, Signal::SIGKILL);
        let begun = Instant::now();
        let output = run.wait_with_output().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        assert_eq!(output.status.code(), Some(13), "after {delay_ms} ms: {}", stderr(&output));
        let failure = &json(&output)["failure"];
        assert_eq!((&failure["kind"], &failure["pid"]), (&"machine_died".into(), &machine.into()), "{failure}");
        let message = format!("the simulated machine (pid {machine}) died: killed by SIGKILL");
        assert_eq!(failure["message"], message);
        assert!(workers.iter().all(|pid| !is_alive(*pid)), "a worker stays");
    }
}
