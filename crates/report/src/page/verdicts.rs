//! What became slower or faster between the first result and the last.

use std::slice::from_ref;

use maud::{Markup, html};

use crate::bench::{BenchReport, Compared, Comparison, ComparisonOptions, Interval, Summary, Threshold, Verdict};

use super::Named;
use super::figure::At;
use super::scale::Scale;
use super::table::{anchor, breakable, plural};
use super::time;

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 16.0;
/// Up to how many ambiguous ones are shown without being asked for.
const SHOWN: usize = 12;
/// The ratios at the ends of the drawn ones.
const ENDS: (f64, f64) = (1.0 / 1.5, 1.5);

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
            Ok(comparison) => (compared(&comparison)),
            Err(error) => {
                p { "There are none, because the results say nothing about each other:" }
                ul.plain { @for difference in &error.differences { li { (difference) } } }
            }
        }
        @if base.len() == 1 && new.len() == 1 {
            p.legend {
                "A verdict on one run of each says whether the two runs differ. What made one slower may be chance that all its \
                 samples share; four runs of each tell the two apart."
            }
        }
    }
}

/// Whether there are verdicts to be had.
pub(super) const fn are_there(base: &[Named], results: &[Named]) -> bool {
    results.len() > 1 || (!base.is_empty() && !results.is_empty())
}

fn reports(side: &[Named]) -> Vec<BenchReport> {
    side.iter().map(|result| result.report.clone()).collect()
}

fn told(side: &[Named]) -> String {
    match side {
        [one] => format!("{}, {}", one.name, time::show(&one.report.started)),
        side => {
            let ends = side.first().zip(side.last());
            let ends = ends.map(|(first, last)| format!(", {} to {}", first.name, last.name));
            format!("{} runs{}", side.len(), ends.unwrap_or_default())
        }
    }
}

fn compared(comparison: &Comparison) -> Markup {
    let of = |verdicts: &[Verdict]| -> Vec<&Compared> {
        comparison.benchmarks.iter().filter(|one| verdicts.contains(&one.verdict)).collect()
    };
    let changed = of(&[Verdict::Slower, Verdict::Faster]);
    let threshold = comparison.threshold;
    html! {
        p.summary { (comparison.summary) }
        p.legend {
            "The ratio says how many times as slow the new one is: above 1 is slower, for rates as well. A verdict is given \
             where the whole interval lies on one side of the threshold of " (threshold) ", or within it. In the drawings the \
             threshold is shaded; they reach from 0.67 to 1.5, and what lies outside is put on their ends."
        }
        @if !changed.is_empty() { (table(&changed, threshold)) }
        (folded(&of(&[Verdict::Ambiguous]), "ambiguous", threshold))
        (folded(&of(&[Verdict::Same]), "the same", threshold))
        (only("Only the base has", &comparison.only_in_base))
        (only("Only the new one has", &comparison.only_in_new))
    }
}

/// Those that nobody has to act on. A few that are ambiguous are shown even so: they may be worth another run.
fn folded(rows: &[&Compared], what: &str, threshold: Threshold) -> Markup {
    let shown = rows.len() <= SHOWN && rows.iter().all(|row| row.verdict == Verdict::Ambiguous);
    html! {
        @if !rows.is_empty() {
            details.aside open[shown] {
                summary { (plural(rows.len(), "benchmark is", "benchmarks are")) " " (what) }
                (table(rows, threshold))
            }
        }
    }
}

fn only(what: &str, ids: &[String]) -> Markup {
    html! { @if !ids.is_empty() { p { (what) ": " (ids.join("; ")) "." } } }
}

fn table(rows: &[&Compared], threshold: Threshold) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Verdicts" {
            table {
                thead {
                    tr {
                        @for column in ["benchmark", "verdict", "ratio", "95 % interval", "", "base", "new"] {
                            th scope="col" { (column) }
                        }
                    }
                }
                tbody { @for row in rows { (line(row, threshold)) } }
            }
        }
    }
}

fn line(row: &Compared, threshold: Threshold) -> Markup {
    let median = |side: Option<Summary>| side.map_or_else(|| "–".to_owned(), |it| row.unit.show(it.median));
    let interval = row.change.and_then(|change| change.interval);
    html! {
        tr {
            th scope="row" { a href={ "#" (anchor(&row.id)) } { (breakable(&row.id)) } }
            td { span.word.(class(row.verdict)) { (row.verdict) } }
            @match row.change { Some(change) => td { (format!("{:.3}", change.ratio)) }, None => td { "–" } }
            @match (interval, &row.reason) {
                (Some(Interval { low, high }), _) => td { (format!("{low:.3} to {high:.3}")) },
                (None, reason) => td.words { (reason.as_deref().unwrap_or("–")) },
            }
            td { @if let Some((change, interval)) = row.change.zip(interval) { (drawing(change.ratio, interval, threshold)) } }
            td { (median(row.base)) }
            td { (median(row.new)) }
        }
    }
}

const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "worse",
        Verdict::Faster => "better",
        Verdict::Ambiguous => "unclear",
        Verdict::Same => "same",
    }
}

/// The ratio with its interval, before what counts as the same.
fn drawing(ratio: f64, interval: Interval, threshold: Threshold) -> Markup {
    let scale = Scale::logarithmic(ENDS, (2.0, WIDTH - 2.0));
    let [low, high, middle] = [interval.low, interval.high, ratio].map(|value| At(scale.place(value)));
    let band = threshold.band();
    let (left, right) = (scale.place(band.low), scale.place(band.high));
    html! {
        // The cells beside it say the same in numbers.
        svg.ratio viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } width=(WIDTH) height=(HEIGHT) aria-hidden="true" {
            path.band d={ "M" (At(left)) " 0H" (At(right)) "V" (HEIGHT) "H" (At(left)) "z" } {}
            path.grid d={ "M" (At(scale.place(1.0))) " 0V" (HEIGHT) } {}
            path.bar d={ "M" (low) " 8H" (high) "M" (low) " 5v6M" (high) " 5v6" } {}
            path.mark d={ "M" (middle) " 8m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z" } {}
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
