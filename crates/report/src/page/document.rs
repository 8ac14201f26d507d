//! The order of the page.

use maud::{Markup, html};

use crate::bench::{BenchReport, Unit};

use super::history::Histories;
use super::measured::{Suite, suites};
use super::{Named, facts, frame, heat, line, strip, table, time, verdicts};

/// The style of pages on results.
pub(super) const STYLE: &str = include_str!("page.css");
/// Up to how many small figures, or rows of a table, are shown without being asked for.
const OPEN: usize = 24;

/// What the figures by size show.
const MARKS: &str =
    "Marks are medians, bars their 95 % intervals; where devices are joined, from the lowest to the highest.";

/// The page of some results: the last one in full, and the histories of all. Verdicts are on the results against those of the
/// base, with several runs by their medians; without a base, on the last against the first. The page loads nothing.
#[must_use]
pub fn page(base: &[Named], results: &[Named]) -> String {
    let Some(Named { report: last, .. }) = results.last() else {
        return frame("Benchmarks", STYLE, &html! { h1 { "Benchmarks" } p { "There is no result." } });
    };
    let all: Vec<&Named> = base.iter().chain(results).collect();
    let suites = suites(last);
    let comparable = all.iter().map(|result| &result.report).filter(|report| facts::comparable(report, last));
    let histories = Histories::new(comparable.collect());
    let title = format!("Benchmarks: {}, {}", facts::name(last), time::show(&last.started));
    frame(
        &title,
        STYLE,
        &html! {
            header { (head(last)) (links(base, results, &suites)) }
            main {
                (verdicts::section(base, results))
                (table::floors(&suites))
                @if suites.is_empty() { p { "Nothing was measured." } }
                @for (number, suite) in suites.iter().enumerate() { (section(number, suite, &histories)) }
                (facts::machine(last))
                (table::skipped(last))
                (facts::files(&all))
            }
        },
    )
}

fn head(report: &BenchReport) -> Markup {
    html! {
        h1 { "Benchmarks on " (facts::name(report)) }
        p {
            "Measured " (time::show(&report.started)) ", source " (report.source)
            @if let Some(profile) = &report.profile { ", profile " (profile) }
            @if report.quick { ", quick: fewer sizes and samples" }
            "."
        }
        @if report.source == "sim" { (simulated()) }
    }
}

/// What nobody may overlook.
pub(super) fn simulated() -> Markup {
    html! { p.notice { "These figures are of simulated devices. None of them says anything about hardware." } }
}

fn links(base: &[Named], results: &[Named], suites: &[Suite<'_>]) -> Markup {
    let floors = suites.iter().flat_map(|suite| &suite.all).any(|one| one.benchmark.floor.is_some());
    html! {
        nav aria-label="Sections" {
            @if verdicts::are_there(base, results) { a href="#verdicts" { "Verdicts" } }
            @if floors { a href="#floors" { "Floors" } }
            @for (number, suite) in suites.iter().enumerate() { a href={ "#suite-" (number) } { (suite.name) } }
            a href="#machine" { "Machine" }
            a href="#skipped" { "Skipped" }
            @if base.len() + results.len() > 1 { a href="#results" { "Results" } }
        }
    }
}

fn section(number: usize, suite: &Suite<'_>, histories: &Histories<'_>) -> Markup {
    let [times, instructions, rates] =
        [Unit::Nanoseconds, Unit::Instructions, Unit::GigabytesPerSecond].map(|unit| line::figures(suite, unit));
    let lines = !(times.is_empty() && instructions.is_empty() && rates.is_empty());
    let figures = [times, instructions, heat::figures(suite), rates].concat();
    let (spreads, left_out) = strip::figures(suite);
    let spread_note = (left_out > 0).then(|| format!("The {left_out} whose medians are surest are not drawn."));
    let (past, past_note) = histories.figures(suite);
    html! {
        h2 id={ "suite-" (number) } { (suite.name) }
        @if !figures.is_empty() {
            @if lines { p.legend { (MARKS) } }
            div.figures { @for figure in &figures { (figure) } }
        }
        (small("Distribution of samples", "small", &spreads, spread_note.as_deref()))
        (small(&format!("History: {}", histories.extent()), "past", &past, past_note.as_deref()))
        details open[suite.all.len() <= OPEN] {
            summary { "Every benchmark (" (suite.all.len()) ")" }
            (table::benchmarks(suite))
        }
    }
}

/// Small figures, which can be folded; many are.
fn small(title: &str, class: &str, figures: &[Markup], note: Option<&str>) -> Markup {
    html! {
        @if !figures.is_empty() {
            details open[figures.len() <= OPEN] {
                summary { (title) " (" (figures.len()) ")" }
                @if let Some(note) = note { p.legend { (note) } }
                div.(class) { @for figure in figures { (figure) } }
            }
        }
    }
}
