//! What became slower or faster between the first result and the last.

use std::slice::from_ref;

use maud::{Markup, html};

use crate::bench::{BenchReport, Comparison, ComparisonOptions};

use super::Named;
use super::compared::{Links, compared, single_runs};
use super::time;

/// The verdicts of the results against the base, run by run; without a base, of the last result against the first. Nothing if
/// there is one alone.
pub(super) fn section(base: &[Named], results: &[Named]) -> Markup {
    let (base, new) = match (base, results) {
        (_, []) | ([], [_]) => return html! {},
        ([], [first, .., last]) => (from_ref(first), from_ref(last)),
        (base, results) => (base, results),
    };
    html! {
        h2 id="verdicts" { "Verdicts" }
        p.legend { "Base: " (told(base)) ". New: " (told(new)) "." }
        @match Comparison::of_runs(&reports(base), &reports(new), ComparisonOptions::default()) {
            Ok(comparison) => {
                p.summary { (comparison.summary) }
                (single_runs(&comparison))
                (compared(&comparison, Links::ToRows))
            }
            Err(error) => {
                p { "There are none, because the results say nothing about each other:" }
                ul.plain { @for difference in &error.differences { li { (difference) } } }
            }
        }
    }
}

/// Whether there are verdicts to be had.
pub(super) const fn are_there(base: &[Named], results: &[Named]) -> bool {
    results.len() > 1 || (!base.is_empty() && !results.is_empty())
}

/// The results of a side.
fn reports(side: &[Named]) -> Vec<BenchReport> {
    side.iter().map(|result| result.report.clone()).collect()
}

/// A side in words: the name of its file, or how many runs it has.
pub(super) fn told(side: &[Named]) -> String {
    match side {
        [one] => format!("{}, {}", one.name, time::show(&one.report.started)),
        side => {
            let ends = side.first().zip(side.last());
            let ends = ends.map(|(first, last)| format!(", {} to {}", first.name, last.name));
            format!("{} runs{}", side.len(), ends.unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Benchmark;
    use crate::page::made_up::benchmark;

    fn result(factor: f64) -> Named {
        let mut report = BenchReport::new("sim", "2026-01-31T12:00:00Z");
        let samples: Vec<f64> = (0..30).map(|number| factor * (100.0 + f64::from(number % 5))).collect();
        report.benchmarks = vec![Benchmark { samples, ..benchmark("control", "mem_create", &[]) }];
        Named { name: "a<b>.json".to_owned(), report }
    }

    #[test]
    fn one_result_has_no_verdict() {
        assert_eq!(section(&[], &[result(1.0)]).into_string(), "");
    }

    #[test]
    fn verdicts_are_words_with_ratio_and_units() {
        let drawn = section(&[], &[result(1.0), result(9.0), result(2.0)]).into_string();
        for part in ["SLOWER", "2.000", "102 ns", "204 ns", "a&lt;b&gt;.json", "1 slower"] {
            assert!(drawn.contains(part), "{part} in {drawn}");
        }
    }

    #[test]
    fn runs_of_a_base_are_compared_by_their_medians() {
        let (base, new) = (vec![result(1.0); 4], vec![result(1.5); 5]);
        let drawn = section(&base, &new).into_string();
        for part in ["4 runs, a&lt;b&gt;.json", "5 runs", "SLOWER", "1.500"] {
            assert!(drawn.contains(part), "{part} in {drawn}");
        }
        assert!(section(&base[..1], &new[..1]).into_string().contains("SLOWER"));
        assert!(are_there(&base, &new[..1]) && !are_there(&[], &new[..1]) && !are_there(&base, &[]));
    }

    #[test]
    fn machines_that_differ_have_none_and_it_is_said_why() {
        let mut other = result(1.0);
        other.report.machine.cores = 64;
        let drawn = section(&[], &[result(1.0), other]).into_string();
        assert!(drawn.contains("cores") && !drawn.contains("<table"), "{drawn}");
    }
}
