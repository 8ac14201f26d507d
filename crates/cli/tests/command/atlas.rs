//! The atlas: rules, calls and answers, and the recorded steps that reach them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;

use serde_json::Value;

use crate::support::{complaints, json, peermap, run, stderr};

fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The atlas of every recording.
fn atlas() -> &'static Value {
    static ATLAS: OnceLock<Value> = OnceLock::new();
    ATLAS.get_or_init(|| {
        let output = run(peermap().args(["atlas", "--json"]));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        json(&output)
    })
}

fn rows(key: &str) -> &'static [Value] {
    atlas()[key].as_array().unwrap()
}

fn text<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap()
}

fn steps(row: &Value) -> u64 {
    row["steps"].as_u64().unwrap()
}

fn rules() -> BTreeMap<&'static str, &'static Value> {
    rows("rules").iter().map(|rule| (text(rule, "id"), rule)).collect()
}

fn has_evidence(rule: &Value, kind: &str) -> bool {
    rule["evidence"].as_array().unwrap().iter().any(|evidence| evidence["kind"] == kind)
}

/// Every recording, those that random calls found included.
fn recordings() -> Vec<String> {
    let folders = ["", "found", "legacy", "pools"].map(|folder| traces().join(folder)).into_iter();
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    let recorded = files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    recorded.map(|file| fs::read_to_string(file).unwrap()).collect()
}

/// How many traces and steps they have.
fn recorded_size() -> (u64, u64) {
    let all = recordings();
    let lines = all.iter().flat_map(|text| text.lines()).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let (steps, headers): (Vec<_>, Vec<_>) = lines.partition(|line| !line["call"].is_null());
    (headers.len() as u64, steps.len() as u64)
}

/// How often a call of the driver is recorded to fail in each way, from the files themselves.
fn recorded_failures() -> BTreeMap<(String, String), u64> {
    let mut failures = BTreeMap::new();
    for recording in recordings() {
        let lines = recording.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let calls = lines.filter(|line| line["call"].as_str().is_some_and(|call| call.starts_with("cu")));
        for step in calls.filter(|step| step["result"] != "CUDA_SUCCESS") {
            *failures.entry((text(&step, "call").to_owned(), text(&step, "result").to_owned())).or_default() += 1;
        }
    }
    failures
}

/// How many steps the atlas counts for each way to fail.
fn counted_failures() -> BTreeMap<(String, String), u64> {
    let mut failures = BTreeMap::new();
    for pair in rows("pairs").iter().filter(|pair| steps(pair) > 0 && text(pair, "result") != "CUDA_SUCCESS") {
        *failures.entry((text(pair, "call").to_owned(), text(pair, "result").to_owned())).or_default() += steps(pair);
    }
    failures
}

#[test]
fn every_recorded_failure_has_exactly_one_rule() {
    let recorded = recorded_failures();
    assert_eq!(counted_failures(), recorded);
    let total: u64 = recorded.values().sum();
    let summary = &atlas()["summary"];
    assert_eq!((summary["failing"].as_u64(), summary["attributed"].as_u64()), (Some(total), Some(total)));
    let (traces, steps) = recorded_size();
    assert_eq!((&summary["traces"], &summary["steps"]), (&traces.into(), &steps.into()));
}

#[test]
fn a_rule_lists_every_call_that_reaches_it_and_the_answer() {
    let rules = rules();
    for pair in rows("pairs") {
        let rule = rules[text(pair, "rule")];
        assert!(rule["calls"].as_array().unwrap().contains(&pair["call"]), "{pair}");
        assert_eq!(pair["result"], rule["result"], "{pair}");
        assert_eq!(pair["first"].is_null(), steps(pair) == 0, "{pair}");
    }
}

#[test]
fn a_rule_is_shown_by_recordings_exactly_if_recorded_steps_reach_it() {
    for rule in rows("rules") {
        assert_eq!(has_evidence(rule, "step"), steps(rule) > 0, "{rule}");
        let shown = ["step", "hardware", "report", "manual"].iter().any(|kind| has_evidence(rule, kind));
        assert!(shown && !text(rule, "sentence").is_empty(), "{rule}");
    }
}

#[test]
fn the_steps_of_a_rule_are_those_of_its_calls() {
    for rule in rows("rules") {
        let of_calls = rows("pairs").iter().filter(|pair| pair["rule"] == rule["id"]);
        assert_eq!(of_calls.map(steps).sum::<u64>(), steps(rule), "{rule}");
    }
}

#[test]
fn the_first_step_of_a_pair_is_a_recorded_step_of_that_call() {
    for pair in rows("pairs").iter().filter(|pair| steps(pair) > 0) {
        let first = &pair["first"];
        let file = fs::read_to_string(traces().join(text(first, "file")).with_extension("jsonl")).unwrap();
        let header = format!("\"name\": \"{}\"", text(first, "trace"));
        let number = usize::try_from(first["step"].as_u64().unwrap()).unwrap();
        let line = file.lines().skip_while(|line| !line.contains(&header)).nth(number).unwrap();
        let step: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&step["call"], &step["result"]), (&pair["call"], &pair["result"]), "{pair}");
    }
}

#[test]
fn surprising_acceptances_name_the_manual_and_the_recording_if_there_is_one() {
    let accepted: Vec<&Value> = rows("rules").iter().filter(|rule| rule["result"] == "CUDA_SUCCESS").collect();
    assert!(accepted.len() >= 4, "{accepted:?}");
    for rule in &accepted {
        assert!(has_evidence(rule, "manual"), "{rule}");
        assert_eq!(steps(rule) > 0, has_evidence(rule, "step"), "{rule}");
    }
    let unrecorded = accepted.iter().filter(|rule| steps(rule) == 0).map(|rule| text(rule, "id"));
    assert_eq!(unrecorded.collect::<Vec<_>>(), ["EXIT-1"], "no step comes after the end of its process");
    let total: u64 = accepted.iter().map(|rule| steps(rule)).sum();
    assert_eq!(atlas()["summary"]["accepted"].as_u64(), Some(total));
}

#[test]
fn the_summary_counts_every_rule_once() {
    let summary = &atlas()["summary"];
    let count = |key: &str| usize::try_from(summary[key].as_u64().unwrap()).unwrap();
    assert_eq!(count("rules"), rows("rules").len());
    assert_eq!(count("shown_by_recordings") + count("shown_by_hardware_tests") + count("manual_only"), count("rules"));
    let manual = |rule: &&Value| !has_evidence(rule, "step") && !has_evidence(rule, "hardware");
    assert_eq!(count("manual_only"), rows("rules").iter().filter(manual).count());
    assert_eq!(atlas()["schema"], 1);
}

#[test]
fn a_call_that_does_not_return_is_told_from_one_that_succeeds() {
    let waiting: Vec<&Value> = rows("rules").iter().filter(|rule| rule["result"] == "TIMEOUT").collect();
    assert_eq!(waiting.iter().map(|rule| text(rule, "id")).collect::<Vec<_>>(), ["WAIT-1"]);
    assert!(has_evidence(waiting[0], "manual"));
    let calls: Vec<&str> =
        rows("pairs").iter().filter(|pair| pair["rule"] == "WAIT-1").map(|pair| text(pair, "call")).collect();
    assert_eq!(calls, ["cuMemMap", "cuMulticastBindMem", "cuMulticastBindAddr"]);
}

#[test]
fn text_goes_by_call_answer_and_rule() {
    let output = run(peermap().arg("atlas").arg(traces().join("vmm.jsonl")));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let (_, map) = text.split_once("\ncuMemMap\n").unwrap();
    let (map, _) = map.split_once("\n\n").unwrap();
    assert!(map.starts_with("  CUDA_SUCCESS\n    MAP-9 "), "{map}");
    let lines: Vec<&str> = map.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("    MAP-4 ")).unwrap();
    assert!(lines[at].ends_with(" steps  the offset must be 0"), "{}", lines[at]);
    assert_eq!(lines[at + 1].trim(), "vmm map-args 14; edges map-outside 15");
    assert!(map.contains("; unlike manual cuMemMap\n"), "{map}");
    assert!(map.contains("\n  SIGSEGV\n    HANDLE-1        2 steps  "), "{map}");
    let calls: Vec<&str> = text.lines().filter(|line| line.starts_with("cu")).collect();
    assert_eq!(calls.iter().collect::<BTreeSet<_>>().len(), calls.len(), "a call stands twice");
    let sum = "41 traces, 811 steps: 207 calls fail, 207 of them by a rule; ";
    assert!(text.lines().any(|line| line.starts_with(sum)), "{text}");
    assert!(text.ends_with("recorded on NVIDIA H200, driver 580.159.04, CUDA 13.0\n"), "{text}");
}

#[test]
fn quick_leaves_the_long_recording_out() {
    let output = run(peermap().args(["atlas", "--quick", "--json"]));
    let summary = json(&output)["summary"].clone();
    let (all, steps) = recorded_size();
    assert_eq!((&summary["traces"], &summary["steps"]), (&(all - 7).into(), &(steps - 82).into()));
    assert_eq!(summary["failing"], summary["attributed"]);
    let output = run(peermap().args(["atlas", "--quick"]).arg(traces().join("vmm.jsonl")));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_page_loads_nothing_and_every_link_has_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("atlas.html");
    let output = run(peermap().args(["atlas", "--quick", "--json", "--html"]).arg(&path));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = fs::read_to_string(&path).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>"), "{page:.40}");
    for loads in ["http:", "https:", "src=", "<link", "<script", "@import", "url("] {
        assert!(!page.contains(loads), "the page has {loads}");
    }
    let after = |mark: &'static str| page.split(mark).skip(1).map(|rest| rest.split_once('"').unwrap().0);
    let places: Vec<&str> = after(" id=\"").collect();
    let distinct: BTreeSet<&str> = places.iter().copied().collect();
    assert_eq!(distinct.len(), places.len(), "two places have one name");
    let lost: Vec<&str> = after("href=\"#").filter(|link| !distinct.contains(link)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    for rule in json(&output)["rules"].as_array().unwrap() {
        assert!(distinct.contains(text(rule, "id")), "{rule}");
    }
}

#[test]
fn a_recorded_answer_that_no_rule_gives_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.jsonl");
    let recorded = fs::read_to_string(traces().join("share.jsonl")).unwrap();
    fs::write(&path, recorded.replacen("CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_NOT_FOUND", 1)).unwrap();
    let output = run(peermap().arg("atlas").arg(&path));
    assert_eq!(output.status.code(), Some(11));
    let complaints = complaints(&output);
    assert_eq!(complaints.len(), 2, "{complaints:?}");
    assert!(complaints[0].contains("some export-args 7: ") && complaints[0].contains("NOT_FOUND"), "{complaints:?}");
    assert!(complaints[1].contains("failing steps without a rule: 1"), "{complaints:?}");
}

#[test]
fn what_cannot_be_read_or_written_is_wrong_usage() {
    let named = |arguments: &[&str], name: &str| {
        let output = run(peermap().arg("atlas").args(arguments));
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(name), "{}", stderr(&output));
    };
    named(&["/nowhere/x.jsonl"], "/nowhere/x.jsonl");
    let vmm = traces().join("vmm.jsonl");
    named(&[vmm.to_str().unwrap(), "--html", "/nowhere/atlas.html"], "/nowhere/atlas.html");
    let there = tempfile::NamedTempFile::new().unwrap();
    let there = there.path().to_str().unwrap();
    named(&[vmm.to_str().unwrap(), "--html", there], "it exists already; --force replaces it");
    let output = run(peermap().arg("atlas").arg(&vmm).args(["--force", "--html", there]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(fs::read_to_string(there).unwrap().starts_with("<!DOCTYPE html>"));
}
