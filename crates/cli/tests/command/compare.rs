//! Two results of benchmarks compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use tempfile::TempDir;

use crate::support::{complaints, json, peermap, run, stderr};

/// A result of the first schema, as it was once written.
const OLD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/results/schema-1.json");

/// The old result with one of its texts replaced, in a file.
fn changed(folder: &TempDir, name: &str, from: &str, to: &str) -> PathBuf {
    let old = fs::read_to_string(OLD).unwrap();
    assert!(old.contains(from), "the fixture has no {from}");
    let path = folder.path().join(name);
    fs::write(&path, old.replace(from, to)).unwrap();
    path
}

/// The old result with a benchmark that takes 1.2 times as long.
fn slower(folder: &TempDir) -> PathBuf {
    let (from, to) =
        ("14700.0, 14900.0, 14650.0, 14720.0, 14810.0, 14690.0", "17640, 17880, 17580, 17664, 17772, 17628");
    changed(folder, "slower.json", from, to)
}

fn compare(base: impl AsRef<Path>, new: impl AsRef<Path>, arguments: &[&str]) -> Output {
    run(peermap().arg("compare").arg(base.as_ref()).arg(new.as_ref()).args(arguments))
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn an_old_result_stays_readable_and_is_the_same_as_itself() {
    let output = compare(OLD, OLD, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary = "0 slower, 0 faster, 3 same, 0 ambiguous, 1 skipped (threshold 5 %)";
    assert_eq!(stdout(&output).lines().last(), Some(summary));
    assert!(stdout(&output).contains("one run on each side"), "{}", stdout(&output));
    assert_eq!(stderr(&output), "");
}

#[test]
fn what_became_slower_stands_first_and_is_exit_10() {
    let folder = tempfile::tempdir().unwrap();
    let output = compare(OLD, slower(&folder), &[]);
    assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
    let text = stdout(&output);
    let first = text.lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(first.starts_with("SLOWER control/mem_create/device=0/size=2 MiB 14.7 us 17.7 us 1.20"), "{first}");
    assert!(text.ends_with("1 slower, 0 faster, 2 same, 0 ambiguous, 1 skipped (threshold 5 %)\n"), "{text}");
    let back = compare(slower(&folder), OLD, &[]);
    assert_eq!(back.status.code(), Some(0));
    assert!(stdout(&back).contains("0 slower, 1 faster, 2 same"), "{}", stdout(&back));
}

#[test]
fn a_wider_threshold_lets_it_pass() {
    let folder = tempfile::tempdir().unwrap();
    for threshold in ["30%", "0.3"] {
        let output = compare(OLD, slower(&folder), &["--threshold", threshold]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stdout(&output).ends_with("(threshold 30 %)\n"), "{}", stdout(&output));
    }
    for threshold in ["5", "-1%", "much"] {
        let output = compare(OLD, OLD, &["--threshold", threshold]);
        assert_eq!(output.status.code(), Some(2));
        assert!(complaints(&output)[0].contains("5% or 0.05"), "{}", stderr(&output));
    }
}

#[test]
fn json_is_one_object_with_verdict_interval_and_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let output = compare(OLD, slower(&folder), &["--json"]);
    assert_eq!(output.status.code(), Some(10));
    let object = json(&output);
    assert_eq!((&object["ok"], &object["exit_code"]), (&false.into(), &10.into()));
    let first = &object["benchmarks"][0];
    assert_eq!((&first["id"], &first["verdict"]), (&"control/mem_create/device=0/size=2 MiB".into(), &"SLOWER".into()));
    let interval = &first["change"]["interval"];
    assert!(interval["low"].as_f64() > Some(1.05) && interval["high"].as_f64() < Some(1.4), "{interval}");
}

#[test]
fn markdown_begins_with_the_summary_and_folds_what_is_not_slower() {
    let folder = tempfile::tempdir().unwrap();
    let output = compare(OLD, slower(&folder), &["--markdown"]);
    assert_eq!(output.status.code(), Some(10));
    let text = stdout(&output);
    let (open, folded) = text.split_once("<details>").unwrap();
    assert!(open.starts_with("**1 slower, 0 faster, 2 same, 0 ambiguous, 1 skipped** (threshold 5 %)\n"), "{open}");
    assert!(open.contains("| SLOWER | `control/mem_create/device=0/size=2 MiB` |"), "{open}");
    assert!(folded.contains("| SAME | `bandwidth/fill_id/device=0/size=4 MiB` |"), "{folded}");
    let both = compare(OLD, OLD, &["--markdown", "--json"]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn junit_has_a_case_for_each_and_fails_where_the_exit_code_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("junit.xml");
    let output = compare(OLD, slower(&folder), &["--junit", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
    let text = fs::read_to_string(&path).unwrap();
    for part in [
        r#"<testsuites name="peermap" tests="5" failures="1" errors="0">"#,
        r#"<testsuite name="verdicts" tests="4" failures="1" errors="0" skipped="1">"#,
        r#"<testcase classname="control" name="mem_create/device=0/size=2 MiB">"#,
        r#"<testcase classname="bandwidth" name="fill_id/device=0/size=4 MiB"/>"#,
        r#"<testsuite name="floors" tests="1" failures="0" errors="0" skipped="0">"#,
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn the_page_has_the_verdicts_of_the_given_threshold() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("comparison.html");
    let output = compare(OLD, slower(&folder), &["--threshold", "2%", "--html", page.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(10), "{}", stderr(&output));
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>") && text.ends_with("</html>"), "{text:.40}");
    for part in ["REGRESSION", "1 slower, 0 faster, 2 same", "threshold of 2 %", "schema-1.json", "slower.json"] {
        assert!(text.contains(part), "no {part:?}");
    }
    let both = compare(OLD, OLD, &["--force", "--html", "x", "--junit", "x"]);
    assert_eq!(both.status.code(), Some(2));
    assert!(complaints(&both)[0].contains("name the same file"), "{}", stderr(&both));
}

#[test]
fn files_are_replaced_only_by_force_and_nothing_is_written_where_there_is_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("junit.xml");
    fs::write(&path, "an older one").unwrap();
    let name = path.to_str().unwrap();
    let kept = compare(OLD, OLD, &["--junit", name]);
    assert_eq!(kept.status.code(), Some(2));
    assert!(complaints(&kept)[0].contains("it exists already; --force replaces it"), "{}", stderr(&kept));
    let other = changed(&folder, "other.json", "Simulated NVIDIA H200", "Another GPU");
    assert_eq!(compare(OLD, other, &["--force", "--junit", name]).status.code(), Some(2));
    assert_eq!(fs::read_to_string(&path).unwrap(), "an older one");
    assert_eq!(compare(OLD, OLD, &["--force", "--junit", name]).status.code(), Some(0));
    assert!(fs::read_to_string(&path).unwrap().starts_with("<?xml"));
}

#[test]
fn machines_that_differ_are_exit_2_unless_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let other = changed(&folder, "other.json", "Simulated NVIDIA H200", "Another GPU");
    let output = compare(OLD, &other, &["--json"]);
    assert_eq!(output.status.code(), Some(2));
    let complaint = complaints(&output).remove(0);
    for word in ["Another GPU", "other.json", "--across-machines"] {
        assert!(complaint.contains(word), "{complaint}");
    }
    assert_eq!(json(&output)["exit_code"], 2);
    let across = compare(OLD, &other, &["--across-machines"]);
    assert_eq!(across.status.code(), Some(0), "{}", stderr(&across));
    let line = r#"the machines differ: devices: "Simulated NVIDIA H200" and "Another GPU""#;
    assert!(stdout(&across).lines().any(|one| one == line), "{}", stdout(&across));
}

#[test]
fn results_without_a_common_benchmark_are_exit_15() {
    let folder = tempfile::tempdir().unwrap();
    let other = changed(&folder, "other.json", "\"suite\": \"", "\"suite\": \"other-");
    let output = compare(OLD, &other, &[]);
    assert_eq!(output.status.code(), Some(15), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("only in base: control/mem_map/size=2 MiB\n"), "{text}");
    assert!(text.ends_with("0 slower, 0 faster, 0 same, 0 ambiguous, 3 missing, 3 added, 1 skipped (threshold 5 %)\n"));
}

#[test]
fn what_is_no_result_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let newer = changed(&folder, "newer.json", "\"schema\": 1", "\"schema\": 99");
    let other = changed(&folder, "scenario.json", "\"kind\": \"bench\",", "");
    let broken = changed(&folder, "broken.json", "\"benchmarks\"", "\"benchmark\"");
    let missing = folder.path().join("missing.json");
    let twice = changed(&folder, "twice.json", "\"mem_map\"", "\"mem_create\"");
    let twice_again = fs::read_to_string(&twice).unwrap().replace("\"device\": \"0\",", "");
    fs::write(&twice, twice_again).unwrap();
    let cases = [
        (twice, "stands in it twice"),
        (newer, "a newer peermap"),
        (other, "a scenario"),
        (broken, "`benchmarks`"),
        (missing, "cannot be read"),
    ];
    for (path, word) in cases {
        let output = compare(OLD, &path, &[]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
        let complaint = complaints(&output).remove(0);
        assert!(complaint.contains(word) && complaint.contains(path.to_str().unwrap()), "{complaint}");
    }
}

#[test]
fn further_runs_of_both_sides_are_compared_by_their_medians() {
    let folder = tempfile::tempdir().unwrap();
    let slower = slower(&folder);
    let further = ["--base", OLD, "--new", slower.to_str().unwrap()].repeat(3);
    // Three of four new runs are slower: that is no verdict, and four of four is one.
    for (first, code) in [(Path::new(OLD), 0), (&slower, 10)] {
        let output = run(peermap().arg("compare").args([Path::new(OLD), first]).args(&further));
        assert_eq!(output.status.code(), Some(code), "{}{}", stdout(&output), stderr(&output));
        assert!(!stdout(&output).contains("one run on each side"), "{}", stdout(&output));
    }
    let repeated = compare(OLD, OLD, &["--base", OLD]);
    assert!(stderr(&repeated).contains("schema-1.json is given more than once, and counts each time"));
    let output = compare(OLD, OLD, &["--new", "/nowhere/x.json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(complaints(&output)[0].contains("/nowhere/x.json"), "{}", stderr(&output));
}

#[test]
fn runs_made_in_turns_are_compared_pair_by_pair() {
    let folder = tempfile::tempdir().unwrap();
    let slower = slower(&folder);
    let further = ["--base", OLD, "--new", slower.to_str().unwrap()].repeat(5);
    let output = run(peermap().arg("compare").args([Path::new(OLD), &slower]).args(&further).arg("--paired"));
    assert_eq!(output.status.code(), Some(10), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("6 pairs of runs"), "{}", stdout(&output));
    let output = compare(OLD, OLD, &["--new", OLD, "--paired"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(complaints(&output)[0].contains("1 runs of the base and 2 new ones"), "{}", stderr(&output));
}
