//! `peermap run fabric --transport mpi` under the real `mpirun`.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::support::{children, complaints, json, leftovers, run, stderr, wait_for};

/// So many ranks on the simulator, with these arguments.
fn ranks(count: u32, arguments: &[&str]) -> Command {
    let mut command = Command::new("mpirun");
    // Tests may run as root, and on fewer cores than there are ranks.
    command.args(["--allow-run-as-root", "--oversubscribe", "-n"]).arg(count.to_string());
    command.arg(env!("CARGO_BIN_EXE_peermap")).args(["run", "fabric", "--backend", "sim", "--transport", "mpi"]);
    command.args(arguments).env_remove("CUDA_VISIBLE_DEVICES");
    command
}

/// The same with small buffers.
fn small(count: u32, arguments: &[&str]) -> Command {
    let mut command = ranks(count, arguments);
    command.args(["--size", "2MiB"]);
    command
}

fn report(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    json(output)
}

fn assert_all_verified(report: &Value, ranks: u64) {
    let workers = report["workers"].as_array().unwrap();
    let verified: Vec<u64> = workers.iter().filter_map(|worker| worker["verified"].as_u64()).collect();
    assert_eq!(verified, vec![ranks * (2 << 20); ranks as usize]);
}

#[test]
fn four_ranks_on_two_nodes_verify_each_others_bytes() {
    let before = leftovers();
    let report = report(&run(&mut small(4, &["--profile", "islands", "--fill", "pattern", "--json"])));
    assert_all_verified(&report, 4);
    let of = |key: &str| -> Vec<Value> {
        report["workers"].as_array().unwrap().iter().map(|worker| worker[key].clone()).collect()
    };
    // Each node numbers its own devices.
    assert_eq!(of("device"), [0, 1, 0, 1]);
    let mut uuids: Vec<String> = of("device_uuid").iter().map(Value::to_string).collect();
    uuids.dedup();
    assert_eq!(uuids.len(), 4);
    assert_eq!(leftovers(), before);
}

#[test]
fn ranks_of_one_node_share_too_and_one_may_be_alone() {
    assert_all_verified(&report(&run(&mut small(3, &["--profile", "default", "--json"]))), 3);
    assert_all_verified(&report(&run(&mut small(1, &["--profile", "default", "--json"]))), 1);
}

#[test]
fn seventy_two_ranks_in_eighteen_nodes_are_done_in_time() {
    let report = report(&run(&mut small(72, &["--profile", "nvl72", "--json"])));
    assert_all_verified(&report, 72);
    assert!(report["wall_ms"].as_f64().unwrap() < 20_000.0, "{}", report["wall_ms"]);
}

/// Exit code and failure of a job that fails; nothing is left of it.
fn failure(count: u32, arguments: &[&str]) -> (Option<i32>, Value) {
    let before = leftovers();
    let output = run(small(count, arguments).arg("--json"));
    assert_eq!(leftovers(), before);
    (output.status.code(), json(&output)["failure"].clone())
}

#[test]
fn a_rank_with_another_channel_ends_the_job_before_anything_is_filled() {
    let (code, failure) = failure(6, &["--profile", "islands"]);
    let said = ["step", "call", "rule"].map(|key| failure[key].as_str().unwrap());
    assert_eq!(code, Some(12));
    assert_eq!(said, ["import and map", "cuMemImportFromShareableHandle", "FABRIC-1"]);
}

#[test]
fn a_rank_without_a_channel_is_named() {
    let (code, failure) = failure(7, &["--profile", "islands"]);
    assert_eq!((code, failure["worker"].as_u64()), (Some(12), Some(6)), "{failure}");
    assert!(failure["message"].as_str().unwrap().starts_with("worker 6: no usable device: "), "{failure}");
}

#[test]
fn mistakes_are_refused() {
    for mistake in ["altered", "gone"] {
        let (code, failure) = failure(2, &["--profile", "default", "--mistake", mistake]);
        assert_eq!((code, failure["rule"].as_str()), (Some(16), Some("IMPORT-5")), "{failure}");
    }
}

#[test]
fn what_cannot_be_is_said_once() {
    for (arguments, word) in [
        (&["--devices", "0"][..], "do not go with --transport mpi"),
        (&["--profile", "nonsense"], "there is no profile"),
    ] {
        let output = run(&mut small(3, arguments));
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(complaints(&output).len(), 1, "{}", stderr(&output));
        assert!(complaints(&output)[0].contains(word), "{}", stderr(&output));
    }
}

/// Whether a process has simulated memory.
fn has_joined(pid: u32) -> bool {
    fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .any(|target| target.to_string_lossy().starts_with("/memfd:peermap-"))
}

/// What becomes of a job of two ranks of which the second gets a signal while both work.
fn signalled(signal: Signal) -> (Output, Duration) {
    let before = leftovers();
    let mut job = ranks(2, &["--profile", "default", "--size", "1GiB", "--fill", "pattern", "--timeout", "4"]);
    let job = job.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("mpirun starts");
    let second = || children(job.id()).into_iter().nth(1);
    // A rank that has not joined the machine may still be on its way through MPI, which knows no deadline.
    wait_for("the second rank", || second().is_some_and(has_joined));
    let second = second().unwrap();
    kill(Pid::from_raw(second.cast_signed()), signal).unwrap();
    let begun = Instant::now();
    let output = job.wait_with_output().unwrap();
    assert_eq!(leftovers(), before);
    (output, begun.elapsed())
}

#[test]
fn a_killed_rank_ends_the_job_at_once() {
    let (output, taken) = signalled(Signal::SIGKILL);
    assert!(!output.status.success());
    assert!(taken < Duration::from_secs(4), "{taken:?}");
}

#[test]
fn a_rank_that_hangs_ends_the_job_when_the_time_is_over() {
    let (output, taken) = signalled(Signal::SIGSTOP);
    assert_eq!(output.status.code(), Some(13), "{}", stderr(&output));
    assert!(stderr(&output).contains("rank 0: the time is over and not all ranks have come"), "{}", stderr(&output));
    assert!(taken < Duration::from_secs(20), "{taken:?}");
}
