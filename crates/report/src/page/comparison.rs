//! The page of one comparison.

use maud::{Markup, html};

use crate::bench::{Comparison, FloorCheck, Skipped};
use crate::exit_code::ExitCode;

use super::compared::{Links, compared, single_runs};
use super::document::{STYLE, simulated};
use super::table::{breakable, plural, reasons};
use super::verdicts::told;
use super::{Named, facts, frame};

/// The page of a comparison of some runs with others: verdicts, floors, what was skipped, and the machines. It loads nothing.
#[must_use]
pub fn comparison(comparison: &Comparison, base: &[Named], new: &[Named]) -> String {
    let ends = base.first().zip(new.first());
    frame(
        &format!("Comparison: {}", comparison.summary),
        STYLE,
        &html! {
            header {
                h1 { "Comparison" @if let Some((_, new)) = ends { " on " (facts::name(&new.report)) } }
                p { "Base: " (told(base)) }
                p { "New: " (told(new)) }
                @if [&comparison.base, &comparison.new].iter().any(|side| side.source == "sim") { (simulated()) }
                (differences(comparison))
                p.summary { (word(comparison)) " " (comparison.summary) }
                nav aria-label="Sections" {
                    a href="#verdicts" { "Verdicts" }
                    @if !comparison.floors.is_empty() { a href="#floors" { "Floors" } }
                    a href="#skipped" { "Skipped" }
                    @if ends.is_some() { a href="#machines" { "Machines" } }
                }
            }
            main {
                h2 id="verdicts" { "Verdicts" }
                (single_runs(comparison))
                (compared(comparison, Links::None))
                (floors(&comparison.floors))
                h2 id="skipped" { "Skipped" }
                (skipped(comparison))
                @if let Some((base, new)) = ends {
                    h2 id="machines" { "Machines" }
                    @if comparison.base.runs + comparison.new.runs > 2 { p.legend { "As the first run of each side found them." } }
                    (facts::machines(&base.report, &new.report))
                }
            }
        },
    )
}

fn word(comparison: &Comparison) -> Markup {
    let (class, word) = match comparison.exit_code() {
        ExitCode::Ok => ("better", "OK"),
        ExitCode::Regression => ("worse", "REGRESSION"),
        _ => ("unclear", "AMBIGUOUS"),
    };
    html! { span.word.(class) { (word) } }
}

fn differences(comparison: &Comparison) -> Markup {
    html! {
        @if !comparison.machine_differences.is_empty() {
            p.notice {
                "The machines differ, so the verdicts may be on them and not on a change: "
                (comparison.machine_differences.join("; ")) "."
            }
        }
    }
}

fn floors(floors: &[FloorCheck]) -> Markup {
    let missed: Vec<&FloorCheck> = floors.iter().filter(|floor| !floor.reached).collect();
    html! {
        @if !floors.is_empty() {
            h2 id="floors" { "Floors" }
            p { (missed.len()) " of " (plural(floors.len(), "floor was missed.", "floors were missed.")) }
            @if !missed.is_empty() {
                ul.missed {
                    @for floor in missed { li { span.word.worse { "MISSED" } " " (breakable(&floor.id)) ": " (floor.words()) } }
                }
            }
        }
    }
}

fn skipped(comparison: &Comparison) -> Markup {
    let (base, new) = (&comparison.base.skipped, &comparison.new.skipped);
    let (both, only_new): (Vec<&Skipped>, Vec<&Skipped>) = new.iter().partition(|group| base.contains(group));
    let only_base: Vec<&Skipped> = base.iter().filter(|group| !new.contains(group)).collect();
    html! {
        @if base.is_empty() && new.is_empty() { p { "Nothing was skipped." } }
        @for (who, groups) in [("The new one", only_new), ("The base", only_base), ("Both", both)] {
            @if !groups.is_empty() {
                h3 { (who) " skipped " (plural(groups.len(), "group", "groups")) }
                (reasons(&groups))
            }
        }
    }
}
