//! The page of results: what goes into it, and what ends the command instead.

use std::fs;
use std::path::{Path, PathBuf};

use peermap_report::bench::{BenchReport, Benchmark, Unit};

use crate::support::{complaints, peermap, run, stderr};

/// A result file that nobody measured.
fn result(folder: &Path, name: &str, nanoseconds: f64) -> PathBuf {
    let mut report = BenchReport::new("made up", "2026-01-31T12:00:00Z");
    report.benchmarks = ["2 MiB", "64 MiB"].map(|size| benchmark(size, nanoseconds)).into();
    let path = folder.join(name);
    fs::write(&path, serde_json::to_string(&report).unwrap()).unwrap();
    path
}

fn benchmark(size: &str, nanoseconds: f64) -> Benchmark {
    Benchmark {
        suite: "control".to_owned(),
        name: "mem_create".to_owned(),
        parameters: [("size".to_owned(), size.to_owned())].into(),
        unit: Unit::Nanoseconds,
        samples: (0..20).map(|number| nanoseconds + f64::from(number % 5)).collect(),
        floor: None,
        peak: None,
    }
}

/// Expects wrong usage, said in one line with some words, and no page.
fn refuses(files: &[&Path], words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    let output = run(peermap().arg("report").args(files).arg("--out").arg(&page));
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let complaints = complaints(&output);
    assert_eq!(complaints.len(), 1, "{}", stderr(&output));
    for word in words {
        assert!(complaints[0].contains(word), "no {word:?} in {}", complaints[0]);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "something was left");
}

#[test]
fn two_results_become_a_page_with_a_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let (base, new) = (result(folder.path(), "base.json", 1000.0), result(folder.path(), "new.json", 1300.0));
    let page = folder.path().join("report.html");
    let output = run(peermap().arg("report").args([&base, &new]).arg("--out").arg(&page));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>") && text.ends_with("</html>"), "{text:.40}");
    for part in ["SLOWER", "base.json", "new.json", "Latency by size"] {
        assert!(text.contains(part), "no {part:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "something else was left");
}

#[test]
fn files_that_are_no_results_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let good = result(folder.path(), "good.json", 1000.0);
    let bad = folder.path().join("bad.json");
    refuses(&[&good, Path::new("/nowhere/x.json")], &["/nowhere/x.json", "cannot be read"]);
    for (text, words) in [
        ("{", "no result of benchmarks"),
        (r#"{"schema": 1, "scenario": "memmap-ipc"}"#, "a scenario"),
        (r#"{"schema": 999, "kind": "bench"}"#, "a newer peermap"),
        (r#"{"schema": 1, "kind": "bench"}"#, "missing field"),
    ] {
        fs::write(&bad, text).unwrap();
        refuses(&[&good, &bad], &["bad.json", words]);
    }
    fs::write(&bad, b"\xff\xfe").unwrap();
    refuses(&[&bad], &["bad.json"]);
    refuses(&[], &["FILE"]);
}

#[test]
fn an_older_page_is_replaced_by_force_alone() {
    let folder = tempfile::tempdir().unwrap();
    let good = result(folder.path(), "good.json", 1000.0);
    let page = folder.path().join("report.html");
    fs::write(&page, "an older page").unwrap();
    let report = |arguments: &[&str]| run(peermap().arg("report").arg(&good).arg("--out").arg(&page).args(arguments));
    let kept = report(&[]);
    assert_eq!(kept.status.code(), Some(2));
    assert!(
        complaints(&kept)[0].contains("report.html cannot be created: it exists already; --force"),
        "{}",
        stderr(&kept)
    );
    assert_eq!(fs::read_to_string(&page).unwrap(), "an older page");
    assert_eq!(report(&["--force"]).status.code(), Some(0));
    assert!(fs::read_to_string(&page).unwrap().starts_with("<!DOCTYPE html>"));
}

#[test]
fn a_page_that_cannot_be_written_is_named_and_nothing_but_a_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let good = result(folder.path(), "good.json", 1000.0);
    for (page, words) in [("/nowhere/report.html", "cannot be created"), ("/dev/null", "no ordinary file")] {
        let output = run(peermap().arg("report").arg(&good).args(["--force", "--out", page]));
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(page) && stderr(&output).contains(words), "{}", stderr(&output));
    }
}
