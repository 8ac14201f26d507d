//! Benchmarks, as the command measures and writes them.

use std::process::Output;

use peermap_report::bench::BenchReport;

use crate::support::{complaints, peermap, run, stderr};

fn bench(arguments: &[&str]) -> Output {
    run(peermap().args(["bench", "--quick", "--backend", "sim"]).args(arguments))
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_suite_is_measured_shown_and_written_with_every_sample() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result.json");
    let output = bench(&["--suite", "transport,scenario", "--profile", "h200-x2", "--out", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("transport/round_trip/descriptors=253"), "{text}");
    assert!(text.trim_end().ends_with("71 benchmarks, 1 groups skipped"), "{text}");
    let report = BenchReport::read(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!((report.source.as_str(), report.profile.as_deref()), ("sim", Some("h200-x2")));
    assert!(report.machine.devices.iter().all(|device| device.name.contains("simulated")), "{:?}", report.machine);
    assert_eq!(report.machine.topology, ["0-1: peer access"]);
    let run = report.benchmarks.iter().find(|benchmark| benchmark.name == "memmap_ipc").unwrap();
    assert!(run.samples.len() >= 8, "{run:?}");
}

#[test]
fn the_result_goes_to_standard_output_where_it_is_asked_for() {
    let output = bench(&["--suite", "transport", "--json"]);
    let report = BenchReport::read(&stdout(&output)).unwrap();
    assert_eq!(report.benchmarks.len(), 10);
    let output = bench(&["--suite", "transport", "--filter", "descriptors=253", "--json"]);
    let some = BenchReport::read(&stdout(&output)).unwrap();
    assert_eq!(some.benchmarks.len(), 2);
    let id = some.benchmarks[0].id();
    let output = bench(&["--suite", "transport", "--filter", &id, "--json"]);
    assert_eq!(BenchReport::read(&stdout(&output)).unwrap().benchmarks[0].id(), id);
    assert!(report.started.ends_with('Z'), "{}", report.started);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_measured() {
    let output = bench(&["--suite", "control,graphics"]);
    assert_eq!(output.status.code(), Some(2));
    let known = "there is no suite \"graphics\"; the suites are control, bandwidth, transport, barrier, scenario";
    assert!(complaints(&output)[0].contains(known), "{}", stderr(&output));
    let output = bench(&["--suite", "transport", "--filter", "descriptors=99"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(complaints(&output)[0].contains("no benchmark of these suites has"), "{}", stderr(&output));
    let there = tempfile::NamedTempFile::new().unwrap();
    let output = bench(&["--suite", "transport", "--out", there.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(complaints(&output)[0].contains("it exists already"), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
}
