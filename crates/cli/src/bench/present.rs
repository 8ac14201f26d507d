//! A result for people.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use peermap_report::bench::{BenchReport, Benchmark, Skipped, Summary};

/// A table of the medians, and below it what was missed and what was left out.
pub(super) fn table(report: &BenchReport) -> String {
    let mut table = Table::new();
    table.load_preset(NOTHING);
    let peaks = report.benchmarks.iter().any(|benchmark| benchmark.peak.is_some());
    let header = ["benchmark", "median", "95 % interval", "samples", "outliers"];
    table.set_header(header.into_iter().chain(peaks.then_some("of peak")));
    for benchmark in &report.benchmarks {
        table.add_row(row(benchmark).into_iter().chain(peaks.then(|| of_peak(benchmark))));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut lines = vec![table.trim_fmt()];
    lines.extend(missed(report));
    lines.extend(left_out(report));
    let skipped = report.skipped.len();
    lines.push(format!("{} benchmarks, {skipped} groups skipped", report.benchmarks.len()));
    lines.join("\n")
}

/// What was left out, a line for each reason.
fn left_out(report: &BenchReport) -> impl Iterator<Item = String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for Skipped { id, reason } in &report.skipped {
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, ids)) => ids.push(id),
            None => reasons.push((reason, vec![id])),
        }
    }
    reasons.into_iter().map(|(reason, ids)| match ids.as_slice() {
        [first, .., last] if ids.len() > 3 => {
            format!("skipped, {reason}: {first} and {} more, to {last}", ids.len() - 2)
        }
        _ => format!("skipped, {reason}: {}", ids.join(", ")),
    })
}

/// The median as a part of what the link can do.
fn of_peak(benchmark: &Benchmark) -> String {
    benchmark.part_of_peak().map_or_else(|| "-".to_owned(), |part| format!("{:.1} %", part * 100.0))
}

fn row(benchmark: &Benchmark) -> [String; 5] {
    let show = |value| benchmark.unit.show(value);
    let none = || "-".to_owned();
    let Ok(summary) = Summary::new(&benchmark.samples) else {
        return [benchmark.id(), none(), none(), benchmark.samples.len().to_string(), none()];
    };
    let interval =
        summary.interval.map_or_else(none, |interval| format!("{} to {}", show(interval.low), show(interval.high)));
    [benchmark.id(), show(summary.median), interval, summary.count.to_string(), summary.outliers.to_string()]
}

/// The benchmarks whose median misses its floor, in words.
pub(super) fn missed(report: &BenchReport) -> impl Iterator<Item = String> {
    report.benchmarks.iter().filter_map(|benchmark| {
        let floor = benchmark.missed_floor()?;
        let show = |value| benchmark.unit.show(value);
        let median = Summary::new(&benchmark.samples).map(|summary| show(summary.median));
        let median = median.unwrap_or_else(|_| "no median".to_owned());
        Some(format!("MISSED: {} has {median}, not {} ({})", benchmark.id(), show(floor.value), floor.source))
    })
}
