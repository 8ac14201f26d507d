//! Verdicts as tables: what changed first, then what may be folded.

use maud::{Markup, html};

use crate::bench::{Compared, Comparison, Interval, Threshold, Verdict};

use super::figure::At;
use super::scale::Scale;
use super::table::{anchor, breakable, plural};

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 16.0;
/// Up to how many ambiguous ones are shown without being asked for.
const SHOWN: usize = 12;
/// The least and the most that drawings reach to, as a ratio. In between they reach to the largest change.
const REACH: (f64, f64) = (1.2, 2.0);

/// Whether the page has a row for each benchmark that its verdict can lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    ToRows,
    None,
}

/// What all rows of a comparison share.
#[derive(Clone, Copy)]
struct Rows {
    threshold: Threshold,
    /// The highest ratio that is drawn. The lowest is its inverse.
    reach: f64,
    links: Links,
}

/// The verdicts of a comparison, and what only one side has.
pub(super) fn compared(comparison: &Comparison, links: Links) -> Markup {
    let of = |verdicts: &[Verdict]| -> Vec<&Compared> {
        comparison.benchmarks.iter().filter(|one| verdicts.contains(&one.verdict)).collect()
    };
    let changed = of(&[Verdict::Slower, Verdict::Faster]);
    let threshold = comparison.threshold;
    let rows = Rows { threshold, reach: reach(comparison), links };
    html! {
        p.legend {
            "The ratio says how many times as slow the new one is: above 1 is slower, for rates as well. A verdict takes the whole \
             interval on one side of the threshold of " (threshold) ", which is shaded, or within it. Drawings reach from "
            (format!("{:.2} to {:.2}", 1.0 / rows.reach, rows.reach)) ". The last column is the smallest slowdown that these \
             samples would have shown."
        }
        @if !changed.is_empty() { (table(&changed, rows)) }
        (folded(&of(&[Verdict::Ambiguous]), "ambiguous", rows))
        (folded(&of(&[Verdict::Same]), "the same", rows))
        (only("Only the base has", &comparison.only_in_base))
        (only("Only the new one has", &comparison.only_in_new))
    }
}

/// How far ratios lie from 1 at most, within what is worth drawing.
fn reach(comparison: &Comparison) -> f64 {
    let intervals = comparison.benchmarks.iter().filter_map(|one| one.change?.interval);
    let furthest = intervals.map(|Interval { low, high }| high.max(1.0 / low)).fold(REACH.0, f64::max);
    furthest.max(comparison.threshold.band().high).min(REACH.1)
}

/// Those that nobody has to act on. A few that are ambiguous are shown even so: they may be worth another run.
fn folded(of: &[&Compared], what: &str, rows: Rows) -> Markup {
    let shown = of.len() <= SHOWN && of.iter().all(|row| row.verdict == Verdict::Ambiguous);
    html! {
        @if !of.is_empty() {
            details.aside open[shown] {
                summary { (plural(of.len(), "benchmark is", "benchmarks are")) " " (what) }
                (table(of, rows))
            }
        }
    }
}

/// What has no counterpart.
fn only(what: &str, ids: &[String]) -> Markup {
    html! {
        @if !ids.is_empty() {
            details.aside open[ids.len() <= SHOWN] {
                summary { (what) " " (plural(ids.len(), "benchmark", "benchmarks")) }
                ul.plain { @for id in ids { li { (breakable(id)) } } }
            }
        }
    }
}

fn table(of: &[&Compared], rows: Rows) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Verdicts" {
            table.verdicts {
                thead {
                    tr {
                        th scope="col" { "benchmark" }
                        th.words scope="col" { "verdict" }
                        @for column in ["ratio", "95 % interval"] { th scope="col" { (column) } }
                        th.ends scope="col" { span { "faster" } span { "slower" } }
                        @for column in ["base", "new", "visible from"] { th scope="col" { (column) } }
                    }
                }
                tbody { @for row in of { (line(row, rows)) } }
            }
        }
    }
}

fn line(row: &Compared, rows: Rows) -> Markup {
    let [base, new, ratio, told] = row.cells();
    let interval = row.change.and_then(|change| change.interval);
    html! {
        tr {
            th scope="row" {
                @if rows.links == Links::ToRows { a href={ "#" (anchor(&row.id)) } { (breakable(&row.id)) } }
                @else { (breakable(&row.id)) }
            }
            td.words { span.word.(class(row.verdict)) { (row.verdict) } }
            td { (ratio) }
            @if interval.is_some() { td { (told) } } @else { td.words { (told) } }
            td { @if let Some((change, interval)) = row.change.zip(interval) { (drawing(change.ratio, interval, rows)) } }
            td { (base) }
            td { (new) }
            td { (visible(row)) }
        }
    }
}

/// The smallest slowdown that would have been seen.
fn visible(row: &Compared) -> String {
    let smallest = row.change.and_then(|change| change.smallest_visible);
    smallest.map_or_else(|| "-".to_owned(), |ratio| format!("+{:.1} %", 100.0 * (ratio - 1.0)))
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
fn drawing(ratio: f64, interval: Interval, rows: Rows) -> Markup {
    let scale = Scale::logarithmic((1.0 / rows.reach, rows.reach), (4.0, WIDTH - 4.0));
    let [low, high, middle] = [interval.low, interval.high, ratio].map(|value| At(scale.place(value)));
    let band = rows.threshold.band();
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

/// What to keep in mind with verdicts on single runs.
pub(super) fn single_runs(comparison: &Comparison) -> Markup {
    html! {
        @if comparison.is_of_single_runs() {
            p.legend {
                "A verdict on one run of each says whether the two runs differ. What made one slower may be chance that all its \
                 samples share; four runs of each tell the two apart."
            }
        }
    }
}
