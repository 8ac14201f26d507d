//! Running the command and looking at what it leaves behind.

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

pub use crate::running::{json, memmap_ipc, peermap, run, scenario, simple_ipc, stderr};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
pub use peermap_testing::{children, children_that_are, is_alive, leftovers, wait_for};

/// How many workers a run without further wishes has on each profile.
pub const WORKERS: [(&str, usize); 17] = [
    ("default", 8),
    ("h200-x2", 2),
    ("h200-x8", 8),
    ("nvl72", 4),
    ("no-peer", 1),
    ("peers-8", 16),
    ("no-fabric", 2),
    ("fabric-late", 2),
    ("fabric-lies", 2),
    ("islands", 2),
    ("no-pools", 2),
    ("no-host-numa", 2),
    ("no-multicast", 2),
    ("wide-teams", 4),
    ("scarce", 2),
    ("unequal", 2),
    ("g64k", 2),
];

/// The lines of standard error that say why the command could not go on.
pub fn complaints(output: &Output) -> Vec<String> {
    stderr(output).lines().filter(|line| line.contains("error:")).map(str::to_owned).collect()
}

/// The children of a process that are workers.
pub fn workers(pid: u32) -> Vec<u32> {
    children_that_are("__worker", pid)
}

/// The process of the simulated machine of a run.
pub fn machine(run: u32) -> u32 {
    children_that_are("__machine", run)[0]
}

/// Runs what has to be refused with this exit code and one line with this word, and to print and leave nothing.
pub fn assert_refused(command: &mut Command, code: i32, word: &str) {
    let before = leftovers();
    let output = run(command);
    assert_eq!(output.status.code(), Some(code), "{command:?}: {}", stderr(&output));
    assert_eq!(complaints(&output).len(), 1, "{command:?}: {}", stderr(&output));
    assert!(complaints(&output)[0].contains(word), "{command:?}: {}", stderr(&output));
    assert_eq!((output.stdout.len(), leftovers()), (0, before), "{command:?}");
}

/// Kills one of so many workers of a run some time after they have started. The run must end within a second, name it in its
/// JSON, and leave nothing.
pub fn assert_killing_ends(command: &mut Command, count: usize, delay: Duration) {
    let before = leftovers();
    let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    wait_for("all workers", || workers(run.id()).len() == count);
    std::thread::sleep(delay);
    let (victim, all) = (workers(run.id())[3], children(run.id()));
    let killed = Instant::now();
    kill(Pid::from_raw(i32::try_from(victim).unwrap()), Signal::SIGKILL).unwrap();
    let output = run.wait_with_output().unwrap();
    let took = killed.elapsed();
    assert!(took < Duration::from_secs(1), "took {took:?} after {delay:?}");
    assert_eq!(output.status.code(), Some(13), "{}", stderr(&output));
    let message = json(&output)["failure"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains(&victim.to_string()) && message.contains("SIGKILL"), "{message}");
    assert!(all.iter().all(|pid| !is_alive(*pid)), "a process stays");
    assert_eq!(leftovers(), before);
}

/// What a scenario refuses whose workers have seats of their own, however many there are.
pub fn assert_refuses_as_seated(name: &str) {
    for (arguments, code, word) in [
        (&["--size", "0"][..], 2, "--size"),
        (&["--size", "3MiB"], 2, "granularity"),
        (&["--size", "1TiB"], 2, "at most"),
        (&["--processes-per-device", "2"], 2, "--processes-per-device"),
        (&["--devices", "0,1", "--profile", "no-peer"], 12, "no peer access both ways"),
    ] {
        assert_refused(&mut scenario(name, arguments), code, word);
    }
}
