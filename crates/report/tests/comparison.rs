//! Two results compared, and what a person and a program get to see.

use peermap_report::ExitCode;
use peermap_report::bench::{BenchReport, Benchmark, Comparison, ComparisonOptions, Floor, Skipped, Unit, Verdict};

fn benchmark(name: &str, unit: Unit, samples: &[f64]) -> Benchmark {
    let parameters = [("size".to_owned(), "2 MiB".to_owned())].into();
    let (suite, name) = ("control".to_owned(), name.to_owned());
    Benchmark { suite, name, parameters, unit, samples: samples.to_vec(), floor: None, peak: None }
}

/// Nine samples around a value, less than a percent apart.
fn around(value: f64) -> Vec<f64> {
    (0..9).map(|step| value * (1.0 + f64::from(step - 4) / 1000.0)).collect()
}

fn report(benchmarks: Vec<Benchmark>) -> BenchReport {
    BenchReport { benchmarks, ..BenchReport::new("sim", "2026-01-31T12:00:00Z") }
}

fn compare(base: &BenchReport, new: &BenchReport) -> Comparison {
    Comparison::new(base, new, ComparisonOptions::default()).unwrap()
}

/// One of everything.
fn mixed() -> Comparison {
    let base = report(vec![
        benchmark("same", Unit::Nanoseconds, &around(100.0)),
        benchmark("slower", Unit::Nanoseconds, &around(100.0)),
        benchmark("slower_rate", Unit::GigabytesPerSecond, &around(3000.0)),
        benchmark("faster", Unit::Nanoseconds, &around(100.0)),
        benchmark("few", Unit::Nanoseconds, &[100.0]),
        benchmark("gone", Unit::Nanoseconds, &around(100.0)),
        benchmark("not_now", Unit::Nanoseconds, &around(100.0)),
    ]);
    let mut new = report(vec![
        benchmark("same", Unit::Nanoseconds, &around(101.0)),
        benchmark("slower", Unit::Nanoseconds, &around(120.0)),
        benchmark("slower_rate", Unit::GigabytesPerSecond, &around(1500.0)),
        benchmark("faster", Unit::Nanoseconds, &around(80.0)),
        benchmark("few", Unit::Nanoseconds, &[100.0]),
        benchmark("fresh", Unit::Nanoseconds, &around(100.0)),
    ]);
    new.skipped.push(Skipped { id: "control/not_now".to_owned(), reason: "one device only".to_owned() });
    compare(&base, &new)
}

#[test]
fn benchmarks_are_matched_by_id_and_the_worst_stand_first() {
    let comparison = mixed();
    let ids: Vec<_> = comparison.benchmarks.iter().map(|one| (one.verdict, one.id.as_str())).collect();
    assert_eq!(
        ids,
        [
            (Verdict::Slower, "control/slower_rate/size=2 MiB"),
            (Verdict::Slower, "control/slower/size=2 MiB"),
            (Verdict::Ambiguous, "control/few/size=2 MiB"),
            (Verdict::Faster, "control/faster/size=2 MiB"),
            (Verdict::Same, "control/same/size=2 MiB"),
        ]
    );
    assert_eq!(comparison.only_in_base, ["control/gone/size=2 MiB", "control/not_now/size=2 MiB"]);
    assert_eq!(comparison.only_in_new, ["control/fresh/size=2 MiB"]);
    // What was skipped is known not to be there, and is not missing.
    assert_eq!(comparison.summary, "2 slower, 1 faster, 1 same, 1 ambiguous, 1 missing, 1 added, 1 skipped");
    assert_eq!(comparison.exit_code(), ExitCode::Regression);
}

#[test]
fn the_exit_code_is_that_of_the_worst_of_which_anything_can_be_said() {
    let one = |name: &str, value: f64| report(vec![benchmark(name, Unit::Nanoseconds, &around(value))]);
    let few = report(vec![benchmark("few", Unit::Nanoseconds, &[1.0, 2.0])]);
    assert_eq!(compare(&one("a", 100.0), &one("a", 100.0)).exit_code(), ExitCode::Ok);
    assert_eq!(compare(&one("a", 100.0), &one("a", 50.0)).exit_code(), ExitCode::Ok);
    assert_eq!(compare(&one("a", 100.0), &one("a", 150.0)).exit_code(), ExitCode::Regression);
    assert_eq!(compare(&few, &few).exit_code(), ExitCode::Ambiguous);
    assert_eq!(compare(&one("a", 100.0), &one("b", 100.0)).exit_code(), ExitCode::Ambiguous);
    assert_eq!(compare(&report(vec![]), &report(vec![])).exit_code(), ExitCode::Ambiguous);
    let both = report([one("a", 100.0).benchmarks, few.benchmarks].concat());
    assert_eq!(compare(&both, &both).exit_code(), ExitCode::Ok);
}

#[test]
fn machines_that_differ_are_compared_only_when_asked() {
    let base = report(vec![benchmark("a", Unit::Nanoseconds, &around(100.0))]);
    let mut new = BenchReport { profile: Some("h200-x2".to_owned()), ..base.clone() };
    new.machine.cores = 4;
    let error = Comparison::new(&base, &new, ComparisonOptions::default()).unwrap_err();
    let text = r#"the machines differ: profile: "" and "h200-x2"; cores: "0" and "4""#;
    assert_eq!(error.to_string(), text);

    let across = ComparisonOptions { across_machines: true, ..ComparisonOptions::default() };
    let comparison = Comparison::new(&base, &new, across).unwrap();
    assert_eq!(comparison.machine_differences, error.differences);
    assert_eq!(comparison.exit_code(), ExitCode::Ok);
    assert!(comparison.table().contains(r#"the machines differ: cores: "0" and "4""#));
}

#[test]
fn the_table_has_a_row_for_each_and_ends_with_the_summary() {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let table = mixed().table();
    let lines: Vec<String> = table.lines().map(words).collect();
    assert_eq!(
        lines,
        [
            "verdict benchmark base new times as slow 95 % interval",
            "SLOWER control/slower_rate/size=2 MiB 3000 GB/s 1500 GB/s 2.000 1.994 to 2.006",
            "SLOWER control/slower/size=2 MiB 100 ns 120 ns 1.200 1.196 to 1.204",
            "AMBIGUOUS control/few/size=2 MiB 100 ns 100 ns 1.000 too few samples: 1 and 1",
            "FASTER control/faster/size=2 MiB 100 ns 80 ns 0.800 0.798 to 0.802",
            "SAME control/same/size=2 MiB 100 ns 101 ns 1.010 1.007 to 1.013",
            "only in base: control/gone/size=2 MiB",
            "only in base: control/not_now/size=2 MiB",
            "only in new: control/fresh/size=2 MiB",
            "skipped in new: control/not_now: one device only",
            "one run on each side: the verdicts do not tell a change from what differs between any two runs; four on each side do",
            "2 slower, 1 faster, 1 same, 1 ambiguous, 1 missing, 1 added, 1 skipped (threshold 5 %)",
        ]
    );
}

#[test]
fn markdown_shows_what_is_slower_and_folds_the_rest() {
    let text = mixed().markdown();
    let (open, folded) = text.split_once("<details>").unwrap();
    assert!(
        open.starts_with(
            "**2 slower, 1 faster, 1 same, 1 ambiguous, 1 missing, 1 added, 1 skipped** (threshold 5 %)\n"
        )
    );
    assert!(open.contains("| SLOWER | `control/slower/size=2 MiB` | 100 ns | 120 ns | 1.200 | 1.196 to 1.204 |\n"));
    assert!(folded.contains("| SAME | `control/same/size=2 MiB` |"));
    assert!(folded.contains("- `only in base: control/gone/size=2 MiB`\n"));
    assert!(folded.ends_with("</details>\n"));
}

#[test]
fn junit_passes_only_what_is_known_to_be_no_slower() {
    let text = mixed().junit();
    let of = |name: &str| {
        let (_, rest) = text.split_once(&format!("classname=\"control\" name=\"{name}\"")).unwrap();
        rest.split_once("<testcase").map_or(rest, |(own, _)| own).trim().to_owned()
    };
    let failed = of("slower/size=2 MiB");
    assert!(
        failed.contains("<failure message=\"1.200 times as slow (1.196 to 1.204)\">base 100 ns, new 120 ns: "),
        "{failed}"
    );
    assert_eq!(of("same/size=2 MiB"), "/>");
    assert_eq!(of("faster/size=2 MiB"), "/>");
    let skipped = |name: &str, reason: &str| {
        assert!(of(name).contains(&format!("<skipped message=\"{reason}\"/>")), "{}", of(name))
    };
    skipped("few/size=2 MiB", "ambiguous: too few samples: 1 and 1");
    skipped("gone/size=2 MiB", "missing: only the base has it");
    skipped("not_now/size=2 MiB", "skipped: one device only");
    skipped("fresh/size=2 MiB", "added: only the new result has it");
    assert!(text.contains(r#"<testsuite name="verdicts" tests="8" failures="2" errors="0" skipped="4">"#), "{text}");
    assert!(!text.contains("floors"), "{text}");
}

#[test]
fn a_floor_that_is_missed_is_a_regression_and_a_case_that_failed() {
    let floored = |rate: f64| {
        let mut one = benchmark("fill", Unit::GigabytesPerSecond, &around(rate));
        one.floor = Some(Floor { value: 3000.0, source: "94 % of memset".to_owned() });
        report(vec![one])
    };
    let reached = compare(&floored(3100.0), &floored(3100.0));
    assert_eq!((reached.exit_code(), reached.counts.floors_missed), (ExitCode::Ok, 0));
    let missed = compare(&floored(2990.0), &floored(2990.0));
    assert_eq!(
        (missed.exit_code(), missed.summary.as_str()),
        (ExitCode::Regression, "0 slower, 0 faster, 1 same, 0 ambiguous, 1 floor missed")
    );
    assert!(
        missed.table().contains("floor missed: control/fill/size=2 MiB: 2990 GB/s, not 3000 GB/s (94 % of memset)\n"),
        "{}",
        missed.table()
    );
    let text = missed.junit();
    assert!(text.contains(r#"<testsuite name="floors" tests="1" failures="1" errors="0" skipped="0">"#), "{text}");
    assert!(text.contains(r#"<failure message="the floor is missed">2990 GB/s, not 3000 GB/s"#), "{text}");
}

#[test]
fn the_json_has_every_figure() {
    let json: serde_json::Value = serde_json::from_str(&mixed().to_json()).unwrap();
    assert_eq!((&json["kind"], &json["ok"], &json["exit_code"]), (&"comparison".into(), &false.into(), &10.into()));
    assert_eq!((&json["counts"]["slower"], &json["counts"]["missing"]), (&2.into(), &1.into()));
    assert_eq!((&json["threshold"], &json["schema"]), (&0.05.into(), &1.into()));
    let slower = &json["benchmarks"][1];
    assert_eq!((&slower["verdict"], &slower["unit"]), (&"SLOWER".into(), &"ns".into()));
    assert_eq!((&slower["base"]["median"], &slower["base"]["count"]), (&100.0.into(), &9.into()));
    let change = &slower["change"];
    assert!(change["interval"]["low"].as_f64() < change["ratio"].as_f64());
    assert!(change["smallest_visible"].as_f64() > Some(1.05));
    assert_eq!(json["benchmarks"][2]["reason"], "too few samples: 1 and 1");
    assert_eq!(json["new"]["skipped"][0]["reason"], "one device only");
}

#[test]
fn what_differs_between_runs_is_no_change_once_there_are_several() {
    // Two runs of the same, with a tenth between them that every sample of a run shares.
    let run = |value: f64| report(vec![benchmark("a", Unit::Nanoseconds, &around(value))]);
    let (base, new) = ([101.0, 110.0, 100.0, 109.0].map(run), [111.0, 100.0, 110.0, 101.0].map(run));
    assert_eq!(compare(&base[0], &new[0]).exit_code(), ExitCode::Regression);
    let several = Comparison::of_runs(&base, &new, ComparisonOptions::default()).unwrap();
    assert_eq!(several.benchmarks[0].verdict, Verdict::Ambiguous);
    assert_eq!((several.base.runs, several.new.runs), (4, 4));
    assert!(!several.table().contains("one run on each side"));
    // What is slower in every run is slower.
    let slower = [131.0, 130.0, 140.0, 139.0].map(run);
    let several = Comparison::of_runs(&base, &slower, ComparisonOptions::default()).unwrap();
    assert_eq!(several.exit_code(), ExitCode::Regression);
}

#[test]
fn runs_of_one_side_come_from_one_machine() {
    let one = report(vec![benchmark("a", Unit::Nanoseconds, &around(100.0))]);
    let mut other = one.clone();
    other.machine.cores = 4;
    let error = Comparison::of_runs(&[one.clone(), other], &[one.clone(), one], ComparisonOptions::default());
    assert!(error.unwrap_err().to_string().contains("cores"));
}

#[test]
fn a_side_without_a_run_says_nothing() {
    let one = report(vec![benchmark("a", Unit::Nanoseconds, &around(100.0))]);
    let without = Comparison::of_runs(&[one], &[], ComparisonOptions::default()).unwrap();
    assert_eq!((without.exit_code(), without.counts.missing, without.new.runs), (ExitCode::Ambiguous, 1, 0));
    let nothing = Comparison::of_runs(&[], &[], ComparisonOptions::default()).unwrap();
    assert_eq!(nothing.exit_code(), ExitCode::Ambiguous);
}

#[test]
fn pairs_show_a_change_that_a_drift_would_hide() {
    let run = |value: f64| report(vec![benchmark("a", Unit::Nanoseconds, &around(value))]);
    let drift = [100.0, 110.0, 125.0, 140.0, 160.0, 190.0];
    let (base, new): (Vec<_>, Vec<_>) = drift.iter().map(|value| (run(*value), run(value * 1.2))).unzip();
    let options = ComparisonOptions::default();
    let apart = Comparison::of_runs(&base, &new, options).unwrap();
    assert_eq!((apart.benchmarks[0].verdict, apart.paired), (Verdict::Ambiguous, false));
    let paired = Comparison::of_pairs(&base, &new, options).unwrap();
    assert_eq!((paired.exit_code(), paired.paired, paired.new.runs), (ExitCode::Regression, true, 6));
    assert!(paired.table().contains("6 pairs of runs: each ratio is that of the pairs"), "{}", paired.table());
    // Five pairs give no interval by themselves, and four runs on each side do.
    let few = Comparison::of_pairs(&base[..5], &[run(300.0), run(301.0), run(302.0), run(303.0)], options).unwrap();
    assert_eq!((few.exit_code(), few.paired), (ExitCode::Regression, false));
}

#[test]
fn runs_without_a_partner_are_no_pairs() {
    let one = report(vec![benchmark("a", Unit::Nanoseconds, &around(100.0))]);
    let (base, new) = (vec![one.clone(); 9], vec![one.clone(); 6]);
    let paired = Comparison::of_pairs(&base, &new, ComparisonOptions::default()).unwrap();
    assert_eq!((paired.base.runs, paired.new.runs), (6, 6));
    let mut other = one;
    other.machine.cores = 4;
    let error = Comparison::of_pairs(&base, &vec![other; 6], ComparisonOptions::default()).unwrap_err();
    assert!(error.to_string().contains("cores"), "{error}");
}
