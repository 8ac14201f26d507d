//! Random driver calls: generated, and played on two simulated machines.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::{complaints, peermap, run, stderr};

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn generate(arguments: &[&str]) -> Output {
    run(peermap().args(["generate", "--seed", "1"]).args(arguments))
}

fn differential(out: &Path, arguments: &[&str]) -> Output {
    run(peermap().args(["differential", "--backend", "sim", "--seed", "1", "--out"]).arg(out).args(arguments))
}

fn replay(file: &Path) -> Command {
    let mut command = peermap();
    command.arg("replay").arg(file);
    command
}

#[test]
fn what_is_generated_replays_in_both_process_modes() {
    let folder = tempfile::tempdir().unwrap();
    for (processes, devices) in [("1", "1"), ("2", "1"), ("4", "2")] {
        let file = folder.path().join(format!("{processes}-{devices}.jsonl"));
        let arguments = ["--traces", "100", "--processes", processes, "--devices", devices, "--out"];
        let output = generate(&[&arguments[..], &[file.to_str().unwrap()]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        for mode in ["in-one", "separate"] {
            let output = run(replay(&file).args(["--processes", mode, "--jobs", "2"]));
            assert!(stdout(&output).starts_with("100 traces, "), "{}{}", stdout(&output), stderr(&output));
            assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
        }
    }
}

#[test]
fn a_seed_gives_the_same_text_and_weights_choose() {
    let text = stdout(&generate(&["--traces", "3"]));
    assert_eq!(text, stdout(&generate(&["--traces", "3"])));
    assert_eq!(text.matches("\"trace\": 1").count(), 3);
    let short = stdout(&generate(&["--traces", "2", "--steps", "9", "--weight", "mapping=0"]));
    assert_eq!(short.lines().count(), 20);
    assert!(!short.contains("cuMemAddressReserve"), "{short}");
}

#[test]
fn multicast_is_compared_on_simulated_machines_only() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--traces", "10", "--processes", "2", "--devices", "2", "--weight", "multicast=2000"];
    let output = differential(folder.path(), &arguments);
    assert!(stdout(&output).ends_with(" steps, 0 differ\n"), "{}{}", stdout(&output), stderr(&output));
    let output = run(peermap().args(["differential", "--seed", "1", "--out"]).arg(folder.path()).args(arguments));
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(complaints(&output)[0].contains("these calls are never made on hardware"), "{}", stderr(&output));
}

#[test]
fn one_machine_does_not_differ_from_itself() {
    let folder = tempfile::tempdir().unwrap();
    let output = differential(folder.path(), &["--traces", "30", "--processes", "3", "--jobs", "2"]);
    assert!(stdout(&output).starts_with("30 traces, "), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).ends_with(" steps, 0 differ\n"), "{}", stdout(&output));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn another_machine_differs_and_what_differs_is_shrunk_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("found");
    let arguments = ["--traces", "12", "--steps", "30", "--devices", "2", "--against", "no-peer"];
    let output = differential(&out, &arguments);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(11), "{text}{}", stderr(&output));
    let first = text.lines().next().unwrap();
    assert!(first.contains("expected") && first.contains("simulated, profile h200-x2"), "{first}");

    let files: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), text.lines().count() - 1, "{text}");
    for file in files {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= 1 + 8, "{}", fs::read_to_string(&file).unwrap());
        // The answers are those of the other machine.
        let there = run(replay(&file).args(["--profile", "no-peer"]));
        assert_eq!(there.status.code(), Some(0), "{}", stdout(&there));
        let here = run(&mut replay(&file));
        assert_eq!(here.status.code(), Some(11), "{}", stdout(&here));
    }
}

#[test]
fn what_cannot_be_generated_is_wrong_usage() {
    for (arguments, word) in [
        (["--devices", "3"], "--devices"),
        (["--weight", "graphs=1"], "legacy"),
        (["--weight", "legacy"], "NAME=N"),
        (["--profile", "h100"], "h100"),
    ] {
        let output = generate(&[&["--traces", "1"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(complaints(&output)[0].contains(word), "{}", stderr(&output));
    }
}
