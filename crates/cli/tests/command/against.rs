//! Two builds measured in turns. The command is its own counterpart, and scripts pose as others.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use peermap_report::bench::BenchReport;
use tempfile::TempDir;

use crate::support::{complaints, json, peermap, run, stderr, wait_for};

const COMMAND: &str = env!("CARGO_BIN_EXE_peermap");

/// A benchmark that takes a moment, four times in turns with `other`.
fn against(other: &Path, arguments: &[&str]) -> Output {
    run(in_turns(&mut peermap()).arg(other).args(arguments))
}

fn in_turns(command: &mut Command) -> &mut Command {
    command.args([
        "bench",
        "--quick",
        "--backend",
        "sim",
        "--suite",
        "transport",
        "--filter",
        "round_trip/descriptors=1",
    ]);
    command.args(["--pairs", "4", "--against"])
}

/// What lies in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// An executable script.
fn script(folder: &TempDir, name: &str, lines: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A script that says that it is a peermap, and does this when it is to measure.
fn pretender(folder: &TempDir, lines: &str) -> PathBuf {
    script(folder, "pretender", &format!("[ \"$1\" = --version ] && exec echo 'peermap 0.0.1'\n{lines}"))
}

#[test]
fn a_build_against_itself_is_not_slower_and_every_run_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("kept");
    let output = against(Path::new(COMMAND), &["--threshold", "90%", "--json", "--out", out.to_str().unwrap()]);
    assert!([Some(0), Some(15)].contains(&output.status.code()), "{}", stderr(&output));
    let object = json(&output);
    assert_eq!((&object["base"]["runs"], &object["new"]["runs"]), (&4.into(), &4.into()));
    assert_eq!(object["benchmarks"].as_array().unwrap().len(), 1);
    assert_eq!(fs::read(out.join("comparison.json")).unwrap(), output.stdout);
    let names = names(&out);
    let numbered = |side: &str| (1..=4).map(|pair| format!("{side}-{pair:02}.json")).collect::<Vec<_>>();
    assert_eq!(names, [numbered("base"), vec!["comparison.json".to_owned()], numbered("new")].concat());
    let report = BenchReport::read(&fs::read_to_string(out.join("new-04.json")).unwrap()).unwrap();
    assert!(report.benchmarks[0].samples.len() >= 10);
    assert!(stderr(&output).contains("what was measured is in "), "{}", stderr(&output));
}

#[test]
fn output_is_that_of_compare() {
    let output = against(Path::new(COMMAND), &["--threshold", "90%", "--markdown"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.starts_with("**0 slower"), "{text}{}", stderr(&output));
    assert!(text.contains("`transport/round_trip/descriptors=1`"), "{text}");
}

#[test]
fn what_is_no_build_is_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let garbage = script(&folder, "garbage", "echo garbage; echo 'it went wrong' >&2");
    let plain = folder.path().join("plain");
    fs::write(&plain, "no script").unwrap();
    let out = folder.path().join("kept");
    for (other, words) in [
        (garbage.as_path(), ["is no peermap: asked for its version it says \"garbage\"", "it went wrong"]),
        (&plain, ["cannot start", "ermission denied"]),
        (folder.path(), ["is a folder", "name the executable in it"]),
        (Path::new("no-such-thing"), ["no-such-thing is no file, and no revision", "git: "]),
    ] {
        let output = against(other, &["--json", "--out", out.to_str().unwrap()]);
        assert_eq!((output.status.code(), &json(&output)["exit_code"]), (Some(2), &2.into()));
        for word in words {
            assert!(complaints(&output)[0].contains(word), "{}", stderr(&output));
        }
        assert!(!out.exists(), "{}", stderr(&output));
    }
}

#[test]
fn a_build_that_fails_ends_it_with_what_it_said_and_what_there_was_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let broken = pretender(&folder, "echo 'peermap: error: the driver is gone' >&2; exit 16");
    let output = against(&broken, &[]);
    assert_eq!(output.status.code(), Some(16));
    assert!(complaints(&output)[0].contains("exit code 16, peermap: error: the driver is gone"), "{}", stderr(&output));

    let killed = pretender(&folder, "kill -9 $$");
    let output = against(&killed, &[]);
    assert_eq!(output.status.code(), Some(13));
    assert!(complaints(&output)[0].contains("killed by SIGKILL"), "{}", stderr(&output));

    // The first run is measured, and the second one of this build finds nothing to measure with.
    let count = folder.path().join("count");
    let twice = format!("[ -e {0} ] && exit 12; touch {0}; exec {COMMAND} \"$@\"", count.display());
    let out = folder.path().join("kept");
    let output = against(&pretender(&folder, &twice), &["--out", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(12), "{}", stderr(&output));
    assert_eq!(names(&out), ["base-01.json", "new-01.json", "new-02.json"]);
}

#[test]
fn a_result_that_cannot_be_read_is_exit_2() {
    let folder = tempfile::tempdir().unwrap();
    for (result, word) in [
        (r#"{"schema": 99, "kind": "bench"}"#, "a newer peermap"),
        ("garbage", "no result of benchmarks"),
        ("{}", "no result of benchmarks"),
    ] {
        let output = against(&pretender(&folder, &format!("echo '{result}'")), &[]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(complaints(&output)[0].contains(word), "{}", stderr(&output));
    }
}

#[test]
fn a_build_that_changes_between_two_runs_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let changes = pretender(&folder, &format!("echo '# {{}}' >> \"$0\"; exec {COMMAND} \"$@\""));
    let output = against(&changes, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(complaints(&output)[0].contains("was changed between two runs"), "{}", stderr(&output));
}

#[test]
fn options_of_the_comparison_go_with_it_only() {
    for options in [&["--pairs", "8"][..], &["--threshold", "3%"], &["--markdown"]] {
        let output = run(peermap().arg("bench").args(options));
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(complaints(&output)[0].contains("--against"), "{}", stderr(&output));
    }
    let output = run(peermap().args(["bench", "--against", COMMAND, "--pairs", "3"]));
    assert_eq!(output.status.code(), Some(2));
    let output = run(peermap().args(["bench", "--against", COMMAND, "--suite", "graphics"]));
    assert!(complaints(&output)[0].contains("there is no suite \"graphics\""), "{}", stderr(&output));
}

/// A repository with one commit, and a cargo that "builds" this command there after it has looked for the sources.
fn repository(folder: &TempDir) -> (PathBuf, String) {
    let sources = folder.path().join("sources");
    fs::create_dir(&sources).unwrap();
    fs::write(sources.join("Cargo.toml"), "[package]").unwrap();
    let identity = "-c user.name=a -c user.email=a@b -c init.defaultBranch=main -c commit.gpgsign=false";
    let make = format!("git {identity} init -q && git add . && git {identity} commit -qm one");
    assert!(run(Command::new("sh").args(["-c", &make]).current_dir(&sources)).status.success());
    let message = format!(r#"{{"target":{{"name":"peermap"}},"executable":"{COMMAND}"}}"#);
    script(folder, "cargo", &format!("test -e Cargo.toml || exit 1\npwd > \"$TMPDIR/built-in\"\necho '{message}'"));
    (sources, format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap()))
}

#[test]
fn a_revision_is_built_in_a_folder_of_its_own_which_is_gone_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let (sources, path) = repository(&folder);
    let mut command = peermap();
    command.env("PATH", path).env("TMPDIR", folder.path()).current_dir(&sources);
    let output = run(in_turns(&mut command).args(["main", "--threshold", "90%"]));
    assert!([Some(0), Some(15)].contains(&output.status.code()), "{}", stderr(&output));
    let built_in = fs::read_to_string(folder.path().join("built-in")).unwrap();
    assert!(built_in.contains("/peermap-against-") && !Path::new(built_in.trim()).exists(), "{built_in}");
    let worktrees = run(Command::new("git").args(["worktree", "list"]).current_dir(&sources));
    assert_eq!(String::from_utf8_lossy(&worktrees.stdout).lines().count(), 1);
    assert_eq!(names(folder.path()), ["built-in", "cargo", "sources"]);
}

#[test]
fn a_revision_that_is_not_there_or_does_not_build_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let (sources, path) = repository(&folder);
    let tried = |revision: &str| {
        let mut command = peermap();
        command.env("PATH", &path).env("TMPDIR", folder.path()).current_dir(&sources);
        run(in_turns(&mut command).arg(revision))
    };
    let output = tried("no-such-branch");
    assert_eq!(output.status.code(), Some(2));
    assert!(complaints(&output)[0].contains("no revision"), "{}", stderr(&output));
    script(&folder, "cargo", "echo 'error[E0425]: cannot find value' >&2; exit 101");
    let output = tried("main");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("error[E0425]"), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot be built"), "{}", stderr(&output));
    assert_eq!(names(folder.path()), ["cargo", "sources"]);
}

#[test]
fn whoever_interrupts_a_build_is_not_left_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let (sources, path) = repository(&folder);
    script(&folder, "cargo", "touch \"$TMPDIR/began\"; exec sleep 3");
    let mut command = peermap();
    command.env("PATH", path).env("TMPDIR", folder.path()).current_dir(&sources);
    let mut running = in_turns(&mut command).arg("main").stderr(Stdio::null()).spawn().unwrap();
    wait_for("the build", || folder.path().join("began").exists());
    running.kill().unwrap();
    running.wait().unwrap();
    wait_for("an end of the folder", || names(folder.path()) == ["began", "cargo", "sources"]);
    let worktrees = run(Command::new("git").args(["worktree", "list"]).current_dir(&sources));
    assert_eq!(String::from_utf8_lossy(&worktrees.stdout).lines().count(), 1);
}
