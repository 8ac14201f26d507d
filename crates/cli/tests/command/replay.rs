//! Recorded driver calls, played by the command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{children_that_are, complaints, json, peermap, run, stderr, wait_for};

const FILES: [&str; 9] = ["vmm", "share", "legacy", "peer", "edges", "inflight", "random_1", "random_2", "random_peer"];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/traces/{name}.jsonl"))
}

fn replay(names: &[&str], arguments: &[&str]) -> Output {
    let files = names.iter().map(|name| fixture(name));
    run(peermap().arg("replay").args(files).args(arguments))
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A file of traces in a folder of its own.
fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.jsonl");
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn replay_text(text: &str, arguments: &[&str]) -> Output {
    let (_folder, path) = file(text);
    run(peermap().arg("replay").arg(path).args(arguments))
}

#[test]
fn every_recording_matches_in_one_process() {
    let output = replay(&FILES, &[]);
    assert_eq!(stdout(&output), "297 traces, 7350 steps, 7350 match\n", "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn recordings_match_in_separate_processes() {
    let output = replay(&["vmm", "share", "legacy", "peer", "edges"], &["--processes", "separate"]);
    assert_eq!(stdout(&output), "90 traces, 1598 steps, 1598 match\n", "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn pools_match_in_both_ways() {
    for processes in ["in-one", "separate"] {
        let output = replay(&["pools/one", "pools/two", "pools/busy"], &["--processes", processes]);
        assert_eq!(stdout(&output), "58 traces, 2527 steps, 2527 match\n", "{}", stderr(&output));
    }
}

#[test]
fn what_the_driver_takes_for_itself_matches_in_both_ways() {
    for processes in ["in-one", "separate"] {
        let output = replay(&["driver/one", "driver/two"], &["--processes", processes]);
        assert_eq!(stdout(&output), "18 traces, 607 steps, 607 match\n", "{}", stderr(&output));
    }
}

#[test]
fn several_at_once_come_to_the_same() {
    let output = replay(&["share", "random_2"], &["--processes", "separate", "--jobs", "3"]);
    assert_eq!(stdout(&output), "65 traces, 1791 steps, 1791 match\n", "{}", stderr(&output));
}

#[test]
fn a_different_answer_is_shown_with_both_sides() {
    let text = fs::read_to_string(fixture("share")).unwrap();
    let changed =
        text.replacen(r#""as": "fx", "result": "CUDA_ERROR_INVALID_VALUE""#, r#""result": "CUDA_SUCCESS""#, 1);
    for mode in ["in-one", "separate"] {
        let (_folder, path) = file(&changed);
        let output = run(peermap().arg("replay").arg(&path).args(["--processes", mode]));
        assert_eq!(output.status.code(), Some(11), "{}", stderr(&output));
        let text = stdout(&output);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        let place = format!("{}: trace export-args, step 6 (line 8): ", path.display());
        assert!(lines[0].starts_with(&(place + "process 0 calls cuMemExportToShareable")), "{text}");
        assert!(lines[0].contains("expected CUDA_SUCCESS; got CUDA_ERROR_INVALID_VALUE (EXPORT-2: "), "{text}");
        assert_eq!(lines[1], "15 traces, 263 steps, 262 match");
    }
}

#[test]
fn only_the_first_difference_of_a_trace_is_printed_and_all_are_counted() {
    let text = fs::read_to_string(fixture("share")).unwrap();
    let changed = text.replacen("CUDA_SUCCESS", "CUDA_ERROR_NOT_FOUND", 1).replacen("\"EBADF\"", "\"OK\"", 1);
    let output = replay_text(&changed, &[]);
    let text = stdout(&output);
    assert_eq!(text.lines().filter(|line| line.contains(": trace ")).count(), 1, "{text}");
    assert!(text.ends_with("15 traces, 263 steps, 261 match\n"), "{text}");
}

#[test]
fn json_has_every_difference_with_both_sides() {
    let text = fs::read_to_string(fixture("share")).unwrap();
    let changed = text.replacen("CUDA_SUCCESS", "CUDA_ERROR_NOT_FOUND", 1).replacen("\"EBADF\"", "\"OK\"", 1);
    let output = replay_text(&changed, &["--json"]);
    assert_eq!(output.status.code(), Some(11));
    let report = json(&output);
    assert_eq!((&report["traces"], &report["steps"], &report["matched"]), (&15.into(), &263.into(), &261.into()));
    let first = &report["mismatches"][0];
    assert_eq!((&first["trace"], &first["step"], &first["call"]), (&"export-args".into(), &0.into(), &"cuInit".into()));
    assert_eq!(first["expected"]["result"], "CUDA_ERROR_NOT_FOUND");
    assert_eq!(first["got"]["result"], "CUDA_SUCCESS");
    assert_eq!(report["mismatches"].as_array().unwrap().len(), 2);
    assert_eq!(report["left_out"], serde_json::json!([]));
}

#[test]
fn each_difference_names_the_file_of_its_trace() {
    let text = fs::read_to_string(fixture("share")).unwrap();
    let (_folders, paths): (Vec<_>, Vec<_>) = [("CUDA_SUCCESS", "CUDA_ERROR_NOT_FOUND"), ("\"EBADF\"", "\"OK\"")]
        .map(|(from, to)| file(&text.replacen(from, to, 1)))
        .into_iter()
        .unzip();
    for jobs in ["1", "2"] {
        let report = json(&run(peermap().arg("replay").args(&paths).args(["--json", "--jobs", jobs])));
        let files: Vec<&str> =
            report["mismatches"].as_array().unwrap().iter().map(|one| one["file"].as_str().unwrap()).collect();
        assert_eq!(files, paths.iter().map(|path| path.to_str().unwrap()).collect::<Vec<_>>());
    }
}

#[test]
fn a_trace_that_needs_more_devices_is_left_out_and_listed() {
    let text = fs::read_to_string(fixture("share")).unwrap().replacen(r#""devices": 1"#, r#""devices": 3"#, 1);
    let output = replay_text(&text, &[]);
    let printed = stdout(&output);
    let (left_out, sum) = printed.split_once('\n').unwrap();
    assert_eq!(left_out, "trace export-args: left out, it needs 3 devices and there are 2");
    assert!(sum.starts_with("1 traces left out\n14 traces, "), "{sum}");
    assert_eq!(output.status.code(), Some(0));
    let report = json(&replay_text(&text, &["--json"]));
    assert_eq!(report["left_out"], serde_json::json!([{"trace": "export-args", "needs": 3, "devices": 2}]));
}

#[test]
fn a_trace_sees_as_many_devices_as_where_it_was_recorded() {
    for mode in ["in-one", "separate"] {
        for (gpus, seen) in [(1, 1), (3, 3), (8, 8), (9, 8)] {
            let machine = format!(r#"{{"gpus": {gpus}, "model": "m", "driver": "d", "cuda": 13000}}"#);
            let text = format!(
                r#"{{"trace": 1, "name": "t", "about": "", "machine": {machine}, "needs": {{"devices": 1}}}}
{{"p": 0, "call": "cuInit", "in": {{}}, "result": "CUDA_SUCCESS"}}
{{"p": 0, "call": "cuDeviceGetCount", "in": {{}}, "result": "CUDA_SUCCESS", "out": {{"count": {seen}}}}}
"#
            );
            let output = replay_text(&text, &["--profile", "h200-x8", "--processes", mode]);
            assert_eq!(stdout(&output), "1 traces, 2 steps, 2 match\n", "{gpus}: {}", stderr(&output));
        }
    }
}

#[test]
fn junit_has_a_case_for_each_trace_and_none_passes_that_was_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [head(1), init(r#"{"flags": 1}"#), head(99), init(r#"{"flags": 0}"#)];
    let (_inputs, path) = file(&lines.map(|line| line + "\n").concat());
    let junit = folder.path().join("junit.xml");
    let output = run(peermap().arg("replay").args([&fixture("vmm"), &path]).arg("--junit").arg(&junit));
    assert_eq!(output.status.code(), Some(11), "{}", stderr(&output));
    let text = fs::read_to_string(&junit).unwrap();
    for part in [
        r#"<testsuite name="replay" tests="43" failures="1" errors="0" skipped="1">"#,
        r#"<failure message="1 of 1 steps are answered differently">"#,
        r#"<skipped message="it needs 99 devices and there are 2"/>"#,
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    refuses(peermap().arg("replay").arg(&path).arg("--junit").arg(&junit), 2, &["junit.xml", "--force"]);
}

/// The head of a trace, and a `cuInit` with such arguments.
fn head(devices: u32) -> String {
    let machine = r#"{"gpus": 1, "model": "m", "driver": "d", "cuda": 13000, "link": "l"}"#;
    format!(r#"{{"trace": 1, "name": "t", "about": "a", "machine": {machine}, "needs": {{"devices": {devices}}}}}"#)
}

fn init(arguments: &str) -> String {
    format!(r#"{{"p": 0, "call": "cuInit", "in": {arguments}, "result": "CUDA_SUCCESS"}}"#)
}

#[test]
fn a_replay_that_compares_nothing_is_no_success() {
    assert_eq!(replay_text(&format!("{}\n{}\n", head(99), init("{}")), &[]).status.code(), Some(12));
    assert_eq!(replay_text(&format!("{}\n", head(1)), &[]).status.code(), Some(2));
    assert_eq!(replay_text(&format!("{}\n{}\n", head(1), init("{}")), &[]).status.code(), Some(0));
}

#[test]
fn an_argument_that_a_call_does_not_have_is_a_difference() {
    let output = replay_text(&format!("{}\n{}\n", head(1), init(r#"{"flag": 0}"#)), &[]);
    assert!(stdout(&output).contains("cuInit has no argument `flag`"), "{}", stdout(&output));
    assert_eq!(output.status.code(), Some(11));
    let desc = r#"[{"prot": "read", "devise": 0}]"#;
    let step = format!(
        r#"{{"p": 0, "call": "cuMemSetAccess", "in": {{"ptr": "0x0", "size": 0, "desc": {desc}}}, "result": "CUDA_SUCCESS"}}"#
    );
    let output = replay_text(&format!("{}\n{step}\n", head(1)), &[]);
    assert!(stdout(&output).contains("prot, device and location_type"), "{}", stdout(&output));
}

#[test]
fn a_recording_that_lacks_steps_is_no_success() {
    let (folder, path) = file(&format!("{}\n{}\n{}\n", head(1), init("{}"), init(r#"{"flags": -1}"#)));
    let recorded = folder.path().join("recorded.jsonl");
    let output = run(peermap().args(["record", "--backend", "sim"]).args([&recorded, &path]));
    assert_eq!(stdout(&output), "1 traces, 2 steps, 1 recorded\n");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn explanations_name_the_rule_the_values_and_the_earlier_call() {
    for mode in ["in-one", "separate"] {
        let output = replay(&["share"], &["--explain", "--processes", mode]);
        let text = stdout(&output);
        let wanted = "trace export-args, step 7 (line 9): process 0: cuMemExportToShareableHandle \
                      {\"handle\": \"$h1\", \"handle_type\": \"posix_fd\"}: CUDA_ERROR_INVALID_VALUE\n    EXPORT-3: ";
        let (_, rest) = text.split_once(wanted).unwrap_or_else(|| panic!("{text}"));
        let line = rest.lines().next().unwrap();
        assert!(line.contains("handle_type POSIX_FILE_DESCRIPTOR, requested NONE"), "{line}");
        assert!(line.ends_with("see cuMemCreate (call 4 of process 0)"), "{line}");
        assert!(text.ends_with("15 traces, 263 steps, 263 match\n"));
    }
}

/// Runs, and expects wrong usage with a single complaint that mentions each of some words.
fn refuses(command: &mut Command, code: i32, words: &[&str]) {
    let output = run(command);
    assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
    let complaints = complaints(&output);
    assert_eq!(complaints.len(), 1, "{}", stderr(&output));
    assert!(words.iter().all(|word| complaints[0].contains(word)), "{words:?} in {}", complaints[0]);
}

#[test]
fn a_malformed_file_is_named_with_line_and_column() {
    let text = fs::read_to_string(fixture("share")).unwrap();
    for (from, to, place) in [
        ("cuCtxCreate", "cuCtxCreat", "line 3, column 18: version 1 has no call `cuCtxCreat`"),
        (r#""trace": 1"#, r#""trace": 2"#, "line 1, column 11: trace format 2"),
        (r#""$h0""#, r#""$hx""#, "line 6, column 67: no earlier step of this trace names a value `hx`"),
    ] {
        let (_folder, path) = file(&text.replacen(from, to, 1));
        refuses(peermap().arg("replay").arg(&path), 2, &[path.to_str().unwrap(), place]);
        refuses(peermap().arg("replay").arg(&path).args(["--jobs", "2"]), 2, &[path.to_str().unwrap(), place]);
    }
    let (_folder, path) = file(&text[..text.len() - 10]);
    refuses(peermap().arg("replay").arg(&path), 2, &["the line ends inside its JSON value"]);
}

#[test]
fn a_file_without_a_trace_is_wrong_usage() {
    let (_folder, blank) = file("\n\n");
    for path in [Path::new("/dev/null"), &blank] {
        let words = [path.to_str().unwrap(), "has no trace"];
        refuses(peermap().arg("replay").arg(path), 2, &words);
        refuses(peermap().arg("replay").args([&fixture("share"), path]).args(["--jobs", "2"]), 2, &words);
        refuses(peermap().arg("atlas").arg(path), 2, &words);
    }
}

#[test]
fn what_cannot_be_played_is_wrong_usage() {
    refuses(peermap().args(["replay", "/nowhere/x.jsonl"]), 2, &["/nowhere/x.jsonl", "No such file"]);
    let share = fixture("share");
    let replay = || {
        let mut command = peermap();
        command.arg("replay").arg(&share);
        command
    };
    refuses(replay().args(["--backend", "cuda", "--processes", "in-one"]), 2, &["in-one", "sim"]);
    refuses(replay().args(["--backend", "cuda", "--profile", "nvl72"]), 2, &["--profile"]);
    refuses(replay().args(["--profile", "h100"]), 2, &["h100", "h200-x2"]);
    refuses(replay().args(["--jobs", "0"]), 2, &["--jobs"]);
    refuses(peermap().arg("replay"), 2, &["required arguments"]);
    refuses(peermap().args(["__player", "--backend", "sim"]), 2, &["by hand"]);
}

/// A trace of one process with so many steps, each of so many bytes.
fn long_trace(steps: usize, bytes: usize) -> String {
    let header = r#"{"trace": 1, "name": "long", "about": "", "machine": {"gpus": 1, "model": "m", "driver": "d", "cuda": 13000}, "needs": {"devices": 1}}"#;
    let address = format!("0x{}", "0".repeat(bytes));
    let arguments = format!(r#"{{"ptr": "{address}", "size": 0}}"#);
    let step =
        format!(r#"{{"p": 0, "call": "cuMemAddressFree", "in": {arguments}, "result": "CUDA_ERROR_NOT_INITIALIZED"}}"#);
    let lines = std::iter::once(header).chain(std::iter::repeat_n(step.as_str(), steps));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_killed_process_of_a_trace_is_no_answer_but_a_lost_process() {
    let (_folder, path) = file(&long_trace(200_000, 1));
    let mut command = peermap();
    command.arg("replay").arg(&path).args(["--processes", "separate"]);
    let replay = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("a player", || !children_that_are("__player", replay.id()).is_empty());
    let player = children_that_are("__player", replay.id())[0];
    kill(Pid::from_raw(i32::try_from(player).unwrap()), Signal::SIGKILL).unwrap();
    let output = replay.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(13), "{}", stderr(&output));
    assert!(stdout(&output).contains("killed by SIGKILL"), "{}", stdout(&output));
}

#[test]
fn a_long_trace_takes_no_more_memory_than_a_short_one() {
    let (_folder, path) = file(&long_trace(10_000, 10_000));
    assert!(fs::metadata(&path).unwrap().len() > 100_000_000);
    // Two page tables of 64 MiB fit, and 67 MiB besides; the text does not.
    let exe = env!("CARGO_BIN_EXE_peermap");
    let script = "ulimit -Sd 200000; exec \"$0\" replay \"$1\"";
    let output = run(Command::new("sh").args(["-c", script, exe]).arg(&path));
    assert_eq!(stdout(&output), "1 traces, 10000 steps, 10000 match\n", "{}", stderr(&output));
}

#[test]
fn a_recording_of_the_simulator_is_a_trace_that_matches() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.jsonl");
    let record = || {
        let mut command = peermap();
        command.arg("record").arg(&out).args([fixture("share"), fixture("legacy")]).args(["--backend", "sim"]);
        command
    };
    let output = run(&mut record());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "28 traces, 430 steps, 430 recorded\n");

    let steps = |text: String| text.lines().filter(|line| !line.contains("\"trace\"")).map(str::to_owned).collect();
    let recorded: Vec<String> = steps(fs::read_to_string(&out).unwrap());
    let original: Vec<String> = ["share", "legacy"]
        .iter()
        .flat_map(|name| -> Vec<String> { steps(fs::read_to_string(fixture(name)).unwrap()) })
        .collect();
    assert!(recorded == original, "the recording has other steps or answers");
    let header = fs::read_to_string(&out).unwrap().lines().next().unwrap().to_owned();
    assert!(
        header.contains(r#""driver": "simulated, profile h200-x2", "cuda": 13000, "link": "peer access""#),
        "{header}"
    );

    refuses(&mut record(), 2, &["out.jsonl", "exists"]);
}

/// The names of what is in a folder.
fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_recording_that_fails_leaves_nothing_behind() {
    let text = fs::read_to_string(fixture("share")).unwrap();
    let (_inputs, cut) = file(&text[..text.len() - 10]);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.jsonl");
    let record = |input: &Path| {
        let mut command = peermap();
        command.arg("record").arg(&out).args([&fixture("share"), input]).args(["--backend", "sim"]);
        command
    };
    for (input, word) in [(cut.as_path(), "line ends"), (Path::new("/dev/null"), "no trace")] {
        refuses(&mut record(input), 2, &["out.jsonl is not written", input.to_str().unwrap(), word]);
        assert_eq!(names(folder.path()), [""; 0]);
    }
    fs::write(&out, "what was there before").unwrap();
    refuses(&mut record(&fixture("share")), 2, &["out.jsonl", "exists"]);
    assert_eq!(fs::read_to_string(&out).unwrap(), "what was there before");
    assert_eq!(names(folder.path()), ["out.jsonl"]);
}

#[test]
fn a_crash_is_recorded_and_ends_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.jsonl");
    let output = run(peermap().arg("record").arg(&out).arg(fixture("vmm")).args(["--backend", "sim"]));
    assert_eq!(stdout(&output), "41 traces, 811 steps, 811 recorded\n", "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&out).unwrap().matches("\"SIGSEGV\"").count(), 3);
}
