//! Results of nvbandwidth. The inputs are written from the format's description and not recorded.

use std::time::{Duration, Instant};

use peermap_report::bench::{BenchReport, ImportError, Nvbandwidth, Unit};

const PASSED: &str = include_str!("data/passed.json");
const FAILED: &str = include_str!("data/failed.json");

fn import(runs: &[&str]) -> BenchReport {
    let mut import = Nvbandwidth::new("2026-01-31T12:00:00Z");
    for run in runs {
        import.add(run).unwrap();
    }
    import.finish()
}

fn refused(run: &str) -> ImportError {
    Nvbandwidth::new("2026-01-31T12:00:00Z").add(run).unwrap_err()
}

#[test]
fn each_cell_of_a_matrix_is_a_sample_of_a_benchmark_of_its_own() {
    let report = import(&[PASSED]);
    let all = report.benchmarks.iter().map(|one| (one.id(), one.unit, one.samples[0]));
    let rate = Unit::GigabytesPerSecond;
    assert_eq!(
        all.collect::<Vec<_>>(),
        [
            ("nvbandwidth/host_to_device_memcpy_ce/column=0/row=0".to_owned(), rate, 50.0),
            ("nvbandwidth/host_to_device_memcpy_ce/column=1/row=0".to_owned(), rate, 51.0),
            ("nvbandwidth/device_to_device_memcpy_read_ce/column=1/row=0".to_owned(), rate, 400.5),
            ("nvbandwidth/device_to_device_memcpy_read_ce/column=0/row=1".to_owned(), rate, 401.25),
            ("nvbandwidth/host_device_latency_sm/column=0/row=0".to_owned(), Unit::Nanoseconds, 700.5),
            ("nvbandwidth/host_device_latency_sm/column=1/row=0".to_owned(), Unit::Nanoseconds, 700.0),
        ]
    );
    assert_eq!((report.source.as_str(), report.skipped.len()), ("nvbandwidth", 0));
}

#[test]
fn the_machine_is_what_the_file_says_of_it() {
    let machine = import(&[PASSED]).machine;
    assert_eq!((machine.driver.as_deref(), machine.cuda), (Some("580.0.0"), Some(13000)));
    let devices = machine.devices.iter().map(|device| (device.ordinal, device.name.as_str(), device.uuid.as_str()));
    let wanted = [(0, "Invented GPU", "00000000:01:00"), (1, "Invented GPU", "00000000:02:00")];
    assert_eq!(devices.collect::<Vec<_>>(), wanted);
}

#[test]
fn what_was_waived_or_failed_is_skipped_with_its_reason_and_once() {
    let mut import = Nvbandwidth::new("2026-01-31T12:00:00Z");
    assert_eq!(import.add(FAILED).unwrap().as_deref(), Some("an invented warning"));
    let report = import.finish();
    assert_eq!(report.benchmarks.len(), 1);
    let skipped = report.skipped.iter().map(|skipped| (skipped.id.as_str(), skipped.reason.as_str()));
    assert_eq!(
        skipped.collect::<Vec<_>>(),
        [
            ("nvbandwidth/device_to_device_memcpy_read_ce", "waived"),
            ("nvbandwidth/no_such_test", "not found"),
            ("nvbandwidth/device_local_copy", "error"),
            ("nvbandwidth/host_to_device_memcpy_sm", "it did not end"),
            ("nvbandwidth", "the run ended: CUDA_ERROR_OUT_OF_MEMORY: in an invented place"),
        ]
    );
}

#[test]
fn further_runs_are_further_samples() {
    let report = import(&[PASSED, &PASSED.replace("\"400.5\"", "\"390\""), PASSED]);
    assert_eq!(report.benchmarks.len(), 6);
    assert_eq!(report.benchmarks[2].samples, [400.5, 390.0, 400.5]);
    assert_eq!(import(&[FAILED, FAILED]).skipped.len(), 5);
    let other =
        import(&[PASSED, &PASSED.replace("memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)", "latency (ns)")]);
    assert_eq!(other.benchmarks[2].samples, [400.5]);
    assert_eq!(other.skipped[0].reason, "it is in GB/s and in ns");
}

#[test]
fn a_run_of_another_machine_is_refused_and_adds_nothing() {
    let mut import = Nvbandwidth::new("2026-01-31T12:00:00Z");
    import.add(PASSED).unwrap();
    let error = import.add(FAILED).unwrap_err().to_string();
    assert!(error.contains(r#"devices: "Invented GPU, Invented GPU" and "Invented GPU""#), "{error}");
    assert_eq!(import.finish().skipped.len(), 0);
}

#[test]
fn what_is_no_result_says_where() {
    assert!(matches!(refused("{"), ImportError::Malformed(_)));
    assert!(refused(r#"{"schema": 1}"#).to_string().contains("nvbandwidth"));
    let error = refused(&PASSED.replace("\"400.5\"", "\"fast\"")).to_string();
    assert_eq!(error, r#"test device_to_device_memcpy_read_ce, row 0, column 1: "fast" is no number"#);
    assert!(matches!(refused(&PASSED.replace("\"400.5\"", "\"inf\"")), ImportError::Cell { row: 0, column: 1, .. }));
}

#[test]
fn what_is_null_is_nothing_and_no_test_is_lost() {
    let test = |rest: &str| {
        format!(r#"{{"nvbandwidth": {{"GPU Device list": null, "testcases": [{{"name": "t", {rest}}}]}}}}"#)
    };
    let reason = |rest: &str| import(&[&test(rest)]).skipped.remove(0).reason;
    assert_eq!(reason(r#""status": "Waived", "bandwidth_matrix": null, "bandwidth_description": null"#), "waived");
    assert_eq!(reason(r#""status": "Passed", "bandwidth_matrix": null"#), "passed without a result");
    assert_eq!(reason(r#""status": "Passed", "bandwidth_matrix": [["N/A", null]]"#), "every cell is N/A");
    assert_eq!(reason(r#""status": "Exploded""#), "exploded");
    let none = import(&[r#"{"nvbandwidth": {"testcases": null}}"#]);
    assert_eq!(none.skipped[0].reason, "the run has no test");
    let marked = format!("\u{feff}{}", test(r#""status": "Passed", "bandwidth_matrix": [[" 55.1 ", 2]]"#));
    let samples: Vec<f64> = import(&[&marked]).benchmarks.iter().map(|one| one.samples[0]).collect();
    assert_eq!(samples, [55.1, 2.0]);
}

#[test]
fn matrices_of_many_devices_are_read_in_time() {
    let row = format!("[{}]", ["\"400.5\""; 72].join(", "));
    let matrix = vec![row; 72].join(", ");
    let test = |number| format!(r#"{{"name": "t{number}", "status": "Passed", "bandwidth_matrix": [{matrix}]}}"#);
    let tests: Vec<String> = (0..10).map(test).collect();
    let run = format!(r#"{{"nvbandwidth": {{"testcases": [{}]}}}}"#, tests.join(", "));
    let begun = Instant::now();
    let report = import(&[&run]);
    assert_eq!((report.benchmarks.len(), report.benchmarks[51_839].samples.len()), (51_840, 1));
    // Each cell was once looked for among all others, which took minutes.
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn a_run_that_ended_before_its_first_test_is_not_empty() {
    let report = import(&[r#"{"nvbandwidth": {"error": "no device", "version": "v0.8"}}"#]);
    assert_eq!(report.skipped[0].reason, "the run ended: no device");
}
