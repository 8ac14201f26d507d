//! A hostile environment: an executable that moves away, a full /dev/shm, a folder that cannot be written.

use std::fs;
use std::process::{Command, Stdio};

use crate::support::{complaints, run, stderr, wait_for, workers};

/// A copy of the command that may be moved about.
fn copied() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("peermap");
    fs::copy(env!("CARGO_BIN_EXE_peermap"), &copy).unwrap();
    (folder, copy)
}

#[test]
fn an_executable_that_is_gone_is_named() {
    let (folder, copy) = copied();
    let moved = folder.path().join("moved");
    // The shell holds the executable open while it is renamed, so that the command finds its own path empty.
    let script = "exec 9<\"$0\"; mv \"$0\" \"$1\"; rm \"$1\"; exec /proc/self/fd/9 run memmap-ipc --backend sim";
    let output = run(Command::new("sh").args(["-c", script]).arg(&copy).arg(&moved).stdin(Stdio::null()));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(complaints(&output).len(), 1, "{}", stderr(&output));
    assert!(complaints(&output)[0].contains("peermap"), "{}", stderr(&output));
}

#[test]
fn nothing_needs_a_folder_that_can_be_written() {
    let (_folder, copy) = copied();
    let output = run(Command::new(copy)
        .args(["run", "memmap-ipc", "--backend", "sim", "--profile", "h200-x2"])
        .env("TMPDIR", "/nowhere")
        .env("HOME", "/nowhere")
        .current_dir("/proc"));
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn workers_are_children_of_the_run_and_are_called_peermap() {
    let (_folder, copy) = copied();
    let mut run = Command::new(copy)
        .args(["run", "memmap-ipc", "--backend", "sim", "--size", "256MiB"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("eight workers", || workers(run.id()).len() == 8);
    for worker in workers(run.id()) {
        assert_eq!(fs::read_to_string(format!("/proc/{worker}/comm")).unwrap().trim(), "peermap");
    }
    run.kill().unwrap();
    run.wait().unwrap();
}
