//! Plain tables: every benchmark, and what is missing.

use maud::{Markup, html};

use crate::bench::{BenchReport, Skipped};

use super::measured::{Measured, Suite, show};

/// Every benchmark of a suite. Its row has a name, for whoever wants to point at it.
pub(super) fn benchmarks(suite: &Suite<'_>) -> Markup {
    let peaks = suite.all.iter().any(|one| one.benchmark.peak.is_some());
    html! {
        div.scroll tabindex="0" role="region" aria-label={ "Every benchmark of " (suite.name) } {
            table {
                thead {
                    tr {
                        th scope="col" { "benchmark" }
                        @for column in ["median", "95 % interval", "lowest", "highest", "samples", "outliers"] {
                            th scope="col" { (column) }
                        }
                        @if peaks { th scope="col" { "of peak" } }
                    }
                }
                tbody { @for one in &suite.all { tr id=(anchor(&one.benchmark.id())) { (row(one, peaks)) } } }
            }
        }
    }
}

fn row(one: &Measured<'_>, peaks: bool) -> Markup {
    let unit = one.benchmark.unit;
    html! {
        th scope="row" { (breakable(&one.label(&[]))) }
        @if let Some(summary) = &one.summary {
            td { (unit.show(summary.median)) }
            td { (show(unit, summary.interval)) }
            td { (unit.show(summary.min)) }
            td { (unit.show(summary.max)) }
            td { (summary.count) }
            td { (summary.outliers) }
            @if peaks { td { (of_peak(one)) } }
        } @else {
            td colspan=(6 + usize::from(peaks)) { (unmeasured(one)) }
        }
    }
}

/// The median as a part of what the link can do; what that is stands in its title.
fn of_peak(one: &Measured<'_>) -> Markup {
    let peak = one.benchmark.part_of_peak().zip(one.benchmark.peak.as_ref());
    html! {
        @if let Some((part, peak)) = peak {
            span title={ (one.benchmark.unit.show(peak.value)) ", " (peak.source) } { (format!("{:.1} %", part * 100.0)) }
        }
    }
}

fn unmeasured(one: &Measured<'_>) -> &'static str {
    if one.benchmark.samples.is_empty() { "no sample" } else { "a sample is no number" }
}

/// A name for a place in the page, made of an id. Other signs than letters and digits become their numbers, so that no two ids
/// give the same one.
pub(super) fn anchor(id: &str) -> String {
    let mut anchor = "b".to_owned();
    for sign in id.chars() {
        match sign {
            '/' => anchor.push('-'),
            sign if sign.is_ascii_alphanumeric() => anchor.push(sign),
            sign => anchor.push_str(&format!("_{:x}_", u32::from(sign))),
        }
    }
    anchor
}

/// An id that may be broken behind the signs between its words.
pub(super) fn breakable(id: &str) -> Markup {
    html! { @for part in id.split_inclusive(['/', '_', ',', '=']) { (part) wbr; } }
}

/// The floors that were missed. Empty if the result has none.
pub(super) fn floors(suites: &[Suite<'_>]) -> Markup {
    let floored: Vec<&Measured<'_>> =
        suites.iter().flat_map(|suite| &suite.all).filter(|one| one.benchmark.floor.is_some()).collect();
    let missed: Vec<&Measured<'_>> =
        floored.iter().copied().filter(|one| one.benchmark.missed_floor().is_some()).collect();
    html! {
        @if !floored.is_empty() {
            h2 id="floors" { "Floors" }
            @if missed.is_empty() {
                p { (plural(floored.len(), "benchmark has a floor, and it was reached.", "benchmarks have a floor, and all were reached.")) }
            } @else {
                p { (missed.len()) " of " (plural(floored.len(), "floor was missed.", "floors were missed.")) }
                ul.missed { @for one in missed { li { (floor(one)) } } }
            }
        }
    }
}

fn floor(one: &Measured<'_>) -> Markup {
    let unit = one.benchmark.unit;
    let id = one.benchmark.id();
    html! {
        span.word.worse { "MISSED" } " "
        a href={ "#" (anchor(&id)) } { (breakable(&id)) } ": "
        @if let Some(summary) = &one.summary { (unit.show(summary.median)) } @else { (unmeasured(one)) }
        @if let Some(floor) = &one.benchmark.floor { "; the floor is " (unit.show(floor.value)) ", " (floor.source) }
    }
}

/// What was not measured.
pub(super) fn skipped(report: &BenchReport) -> Markup {
    html! {
        h2 id="skipped" { "Skipped" }
        @if report.skipped.is_empty() { p { "Nothing was skipped." } } @else { (reasons(&report.skipped.iter().collect::<Vec<_>>())) }
    }
}

/// What was skipped, and why.
pub(super) fn reasons(skipped: &[&Skipped]) -> Markup {
    html! { dl.facts { @for Skipped { id, reason } in skipped { dt { (breakable(id)) } dd { (reason) } } } }
}

/// A number with what it counts.
pub(super) fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Benchmark, Floor, Unit};
    use crate::page::made_up::benchmark;

    #[test]
    fn every_id_has_a_place_of_its_own() {
        assert_eq!(anchor("control/mem_create/size=2 MiB"), "bcontrol-mem_5f_create-size_3d_2_20_MiB");
        assert_ne!(anchor("a-b"), anchor("a/b"));
        assert_ne!(anchor("a_20_"), anchor("a "));
    }

    #[test]
    fn a_row_has_units_and_says_what_is_missing() {
        let all = [benchmark("s", "measured", &[]), Benchmark { samples: Vec::new(), ..benchmark("s", "empty", &[]) }];
        let suite = Suite { name: "s", all: all.iter().map(Measured::new).collect() };
        let drawn = benchmarks(&suite).into_string();
        assert!(drawn.contains("<td>10 ns</td>") && drawn.contains("no sample"), "{drawn}");
    }

    #[test]
    fn floors_are_told_only_where_there_are_some() {
        let with = |value: Option<f64>| {
            let floor = value.map(|value| Floor { value, source: "94 % of memset".to_owned() });
            let all = [Benchmark { unit: Unit::GigabytesPerSecond, floor, ..benchmark("s", "n", &[]) }];
            floors(&[Suite { name: "s", all: all.iter().map(Measured::new).collect() }]).into_string()
        };
        assert_eq!(with(None), "");
        assert!(with(Some(5.0)).contains("it was reached"));
        assert!(with(Some(50.0)).contains("the floor is 50.0 GB/s, 94 % of memset"), "{}", with(Some(50.0)));
    }
}
