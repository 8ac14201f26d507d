//! Whole pages of results that nobody measured.

mod made_up;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use peermap_report::bench::{BenchReport, Comparison, ComparisonOptions, Skipped};
use peermap_report::page::{Named, comparison, page};

/// What a page that loads something would have.
const LOADS: [&str; 9] = ["http:", "https:", "src=", "<link", "<script", "@import", "url(", "<iframe", "<use"];

/// What every page is.
fn check(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>"), "{page:.40}");
    for loads in LOADS {
        assert!(!page.contains(loads), "the page has {loads}");
    }
    let after = |mark: &'static str| page.split(mark).skip(1).map(|rest| rest.split_once('"').unwrap().0);
    let drawn = after(" d=\"").chain(after("viewBox=\"")).chain(after(" x=\"")).chain(after(" y=\""));
    let wrong: Vec<&str> = drawn.filter(|drawn| drawn.contains("NaN") || drawn.contains("inf")).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let places: Vec<&str> = after(" id=\"").collect();
    let distinct: BTreeSet<&str> = places.iter().copied().collect();
    assert_eq!(distinct.len(), places.len(), "two places have one name");
    let lost: Vec<&str> = after("href=\"#").filter(|link| !distinct.contains(link)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let images = page.matches("role=\"img\"").count();
    assert_eq!((page.matches("role=\"img\"><title>").count(), page.matches("<desc>").count()), (images, images));
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
}

fn has(page: &str, texts: &[&str]) {
    for text in texts {
        assert!(page.contains(text), "no {text:?}");
    }
}

#[test]
fn one_result_has_figures_tables_and_no_verdict() {
    let page = page(&[], &made_up::results(1, 30));
    check(&page);
    has(&page, &["Latency by size", "Bandwidth by size", "Latency by descriptors", "Bandwidth between devices"]);
    has(&page, &["Distribution of samples", "Every benchmark", "MISSED", "there is no IMEX channel", "changed"]);
    has(&page, &["Benchmarks on 8 made-up GPU", "2026-01-01 12:00 UTC"]);
    assert!(!page.contains("Verdicts") && !page.contains("History"));
}

#[test]
fn two_results_have_verdicts_and_no_history() {
    let page = page(&[], &made_up::results(2, 30));
    check(&page);
    has(&page, &["Verdicts", "SLOWER", "10 slower", "made-up-000.json", "made-up-001.json"]);
    assert!(!page.contains("History"));
}

#[test]
fn runs_with_a_base_have_verdicts_by_run() {
    let results = made_up::results(8, 30);
    let page = page(&results[..4], &results[4..]);
    check(&page);
    has(&page, &["Base: 4 runs, made-up-000.json to made-up-003.json", "10 slower", "History: 8 results", "8 files"]);
}

/// The page of a comparison of some runs with others.
fn compared(base: &[Named], new: &[Named]) -> String {
    let reports = |side: &[Named]| side.iter().map(|result| result.report.clone()).collect::<Vec<BenchReport>>();
    let options = ComparisonOptions { across_machines: true, ..ComparisonOptions::default() };
    comparison(&Comparison::of_runs(&reports(base), &reports(new), options).unwrap(), base, new)
}

#[test]
fn a_comparison_has_verdicts_floors_what_was_skipped_and_both_machines() {
    let mut results = made_up::results(8, 30);
    for (number, result) in results.iter_mut().enumerate() {
        result.report.benchmarks.remove(if number < 4 { 199 } else { 198 });
    }
    results[4].report.machine.driver = Some("9.9.9".to_owned());
    results[4].report.skipped.push(Skipped { id: "transport/pipe".to_owned(), reason: "no <pipe>".to_owned() });
    let page = compared(&results[..4], &results[4..]);
    check(&page);
    has(&page, &["REGRESSION", "10 slower", "4 runs, made-up-000.json to made-up-003.json", "1 missing, 1 added"]);
    has(&page, &["MISSED", "Only the base has 1 benchmark", "Only the new one has 1 benchmark", "visible from"]);
    has(&page, &["The new one skipped 1 group", "no &lt;pipe&gt;", "Both skipped 1 group", "there is no IMEX channel"]);
    has(&page, &["The machines differ", "9.9.9", "differs"]);
    assert!(!page.contains("A verdict on one run"));
}

#[test]
fn comparisons_of_single_and_of_empty_results_make_pages() {
    let mut results = made_up::results(1, 30);
    results[0].report.benchmarks.retain(|benchmark| benchmark.floor.is_none());
    let same = compared(&results, &results);
    check(&same);
    has(&same, &[">OK<", "0 slower", "A verdict on one run of each"]);
    let nothing = compared(&[], &[]);
    check(&nothing);
    has(&nothing, &["AMBIGUOUS", "Nothing was skipped."]);
}

#[test]
fn many_results_have_histories_with_steps() {
    let page = page(&[], &made_up::results(24, 9));
    check(&page);
    has(&page, &["History: 24 results from 2026-01-01 12:00 UTC", "a step of +2", "+20 %"]);
}

#[test]
fn results_of_another_machine_are_not_in_the_history() {
    let mut results = made_up::results(5, 9);
    results[1].report.machine.cores = 3;
    let page = page(&[], &results);
    check(&page);
    has(&page, &["History: 4 results", "not in the histories: another machine or source"]);
}

#[test]
fn empty_results_make_pages() {
    check(&page(&[], &[]));
    let empty = || Named { name: "empty.json".to_owned(), report: BenchReport::new("sim", "today") };
    let one = page(&[], &[empty()]);
    check(&one);
    has(&one, &["Nothing was measured.", "Nothing was skipped.", "None of them says anything about hardware"]);
    check(&page(&[], &[empty(), empty(), empty()]));
}

#[test]
fn suites_without_samples_or_with_wild_ones_make_pages() {
    let mut results = made_up::results(4, 9);
    for (number, result) in results.iter_mut().enumerate() {
        result.report.benchmarks.truncate(40);
        for (place, benchmark) in result.report.benchmarks.iter_mut().enumerate() {
            benchmark.samples =
                [vec![], vec![0.0; 9], vec![f64::MAX; 9], vec![-1.0; 9], vec![1e-300; 9]][place % 5].clone();
            benchmark.samples.extend((place % 7 == number).then_some(f64::NAN));
        }
    }
    check(&page(&[], &results));
    check(&compared(&results[..1], &results[1..2]));
    check(&compared(&results[..2], &results[2..]));
}

#[test]
fn texts_of_files_cannot_become_markup() {
    let mut results = made_up::results(3, 9);
    for result in &mut results {
        result.name = "<i>\"&.json".to_owned();
        result.report.machine.cpu = "<i>".to_owned();
        result.report.machine.devices.clear();
        for benchmark in &mut result.report.benchmarks {
            benchmark.name = format!("<i>{}\"", benchmark.name);
            benchmark.parameters.insert("<i>".to_owned(), "\"<i>".to_owned());
        }
    }
    let page = page(&[], &results);
    check(&page);
    assert!(!page.contains("<i>"));
}

#[test]
fn two_hundred_results_make_a_page_that_is_not_too_large() {
    let results = made_up::results(200, 50);
    let begun = Instant::now();
    let page = page(&[], &results);
    // Without optimisation, beside other tests, and with a tenth of the samples: what is promised is two seconds.
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert!(page.len() < 2 << 20, "{} KiB", page.len() / 1024);
    check(&page);
}
