//! Which benchmarks make a line by size.

use crate::bench::{Interval, Unit};

use super::gather::{Figure, gather};
use super::measured::{Measured, Suite};

/// What a line does not tell apart: devices are joined, since every pair of eight would be 64 lines.
const JOINED: [&str; 5] = ["device", "from", "to", "src", "dst"];
/// What lies along a line wherever it is a parameter.
const SIZE: &str = "size";

/// A point of a line: all benchmarks of one size, or of one number of something.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    pub(super) size: String,
    /// The median, or where several devices are joined, that of their medians.
    pub(super) median: f64,
    /// The interval, or where several devices are joined, from the lowest of theirs to the highest.
    pub(super) interval: Interval,
}

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Series {
    pub(super) label: String,
    pub(super) points: Vec<Point>,
}

/// Lines along one parameter, by figure.
pub(super) struct Along<'r> {
    /// The parameter.
    pub(super) key: &'r str,
    pub(super) figures: Vec<Figure>,
}

/// The lines of a suite in a unit. Those of one size alone are none.
pub(super) fn lines<'r>(suite: &Suite<'r>, unit: Unit) -> Vec<Along<'r>> {
    let mut groups: Vec<(&str, String, Vec<&Measured<'_>>)> = Vec::new();
    for one in suite.all.iter().filter(|one| one.benchmark.unit == unit) {
        let Some(key) = axis(one) else { continue };
        let label = label(one, key);
        match groups.iter_mut().find(|(along, known, _)| *along == key && *known == label) {
            Some((.., group)) => group.push(one),
            None => groups.push((key, label, vec![one])),
        }
    }
    let mut all: Vec<(&str, Vec<Series>)> = Vec::new();
    for (key, label, group) in groups {
        let line = series(key, label, &group);
        match all.iter_mut().find(|(known, _)| *known == key) {
            _ if line.points.len() < 2 => {}
            Some((_, lines)) => lines.push(line),
            None => all.push((key, vec![line])),
        }
    }
    all.into_iter().map(|(key, lines)| Along { key, figures: gather(lines) }).collect()
}

/// The parameter that lies along the line of a benchmark: its size, or what it has a number of.
fn axis<'r>(one: &Measured<'r>) -> Option<&'r str> {
    let parameters = &one.benchmark.parameters;
    let keys = || parameters.keys().map(String::as_str);
    let is_number = |key: &&str| one.parameter(key).is_some_and(|value| value.parse::<u64>().is_ok());
    keys().find(|key| *key == SIZE).or_else(|| keys().find(|key| !JOINED.contains(key) && is_number(key)))
}

/// The name of a benchmark's line: its name, what it does not join, and how its devices lie to each other.
fn label(one: &Measured<'_>, axis: &str) -> String {
    let label = one.label(&[&JOINED[..], &[axis]].concat());
    match one.ends() {
        Some(ends) if one.parameter("relation").is_none() => format!("{label}, {}", relation(ends)),
        _ => label,
    }
}

fn relation((from, to): (&str, &str)) -> String {
    let is_device = |end: &str| !end.is_empty() && end.chars().all(|letter| letter.is_ascii_digit());
    match (is_device(from), is_device(to)) {
        (true, true) if from == to => "same device".to_owned(),
        (true, true) => "between devices".to_owned(),
        (true, false) => format!("device to {to}"),
        (false, true) => format!("{from} to device"),
        (false, false) => format!("{from} to {to}"),
    }
}

fn series(key: &str, mut label: String, group: &[&Measured<'_>]) -> Series {
    let mut sizes: Vec<&str> = Vec::new();
    for size in group.iter().filter_map(|one| one.parameter(key)) {
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    let of_size = |size: &str| -> Vec<&Measured<'_>> {
        group.iter().copied().filter(|one| one.parameter(key) == Some(size)).collect()
    };
    let joined = sizes.iter().map(|size| of_size(size).len()).max().unwrap_or(0);
    if joined > 1 {
        let what = if group.iter().any(|one| one.ends().is_some()) { "pairs" } else { "devices" };
        label = format!("{label} ({joined} {what})");
    }
    Series { label, points: sizes.iter().filter_map(|size| point(size, &of_size(size))).collect() }
}

fn point(size: &str, of_size: &[&Measured<'_>]) -> Option<Point> {
    let summaries: Vec<_> = of_size.iter().filter_map(|one| one.summary.as_ref()).collect();
    let mut medians: Vec<f64> = summaries.iter().map(|summary| summary.median).collect();
    medians.sort_unstable_by(f64::total_cmp);
    let middle = medians.len() / 2;
    let median = *medians.get(middle)?;
    let median = if medians.len().is_multiple_of(2) { f64::midpoint(medians[middle - 1], median) } else { median };
    let intervals = summaries.iter().map(|summary| summary.interval.unwrap_or(alone(summary.median)));
    let interval = intervals.reduce(|one, two| Interval { low: one.low.min(two.low), high: one.high.max(two.high) })?;
    Some(Point { size: size.to_owned(), median, interval })
}

/// The interval of a median that has none.
const fn alone(median: f64) -> Interval {
    Interval { low: median, high: median }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Benchmark;
    use crate::page::made_up::benchmark;

    fn suite(all: &[Benchmark]) -> Suite<'_> {
        Suite { name: "copy", all: all.iter().map(Measured::new).collect() }
    }

    fn pair(from: &str, to: &str, size: &str, value: f64) -> Benchmark {
        let parameters = [("from", from), ("to", to), ("size", size)];
        Benchmark { samples: vec![value; 9], ..benchmark("copy", "peer", &parameters) }
    }

    #[test]
    fn pairs_of_devices_are_joined_by_how_they_lie() {
        let all = [
            pair("0", "0", "1 MiB", 90.0),
            pair("0", "1", "1 MiB", 10.0),
            pair("1", "0", "1 MiB", 14.0),
            pair("0", "0", "2 MiB", 95.0),
            pair("0", "1", "2 MiB", 11.0),
            pair("1", "0", "2 MiB", 12.0),
        ];
        let lines = lines(&suite(&all), Unit::Nanoseconds);
        let labels: Vec<&str> = lines[0].figures[0].lines.iter().map(|line| line.label.as_str()).collect();
        assert_eq!(labels, ["peer, same device", "peer, between devices (2 pairs)"]);
        let point = &lines[0].figures[0].lines[1].points[0];
        assert_eq!((point.median, point.interval), (12.0, Interval { low: 10.0, high: 14.0 }));
    }

    #[test]
    fn ends_that_are_no_devices_keep_their_names() {
        assert_eq!(relation(("host", "0")), "host to device");
        assert_eq!(relation(("3", "host")), "device to host");
        assert_eq!(relation(("host", "disk")), "host to disk");
    }

    #[test]
    fn one_size_is_no_line() {
        let all = [benchmark("control", "create", &[("size", "1 KiB")]), benchmark("control", "init", &[])];
        assert!(lines(&suite(&all), Unit::Nanoseconds).is_empty());
    }

    #[test]
    fn without_a_size_a_number_lies_along_the_line_and_devices_do_not() {
        let of = |count| benchmark("transport", "send", &[("kind", "seqpacket"), ("descriptors", count)]);
        let on = |device| benchmark("transport", "init", &[("device", device)]);
        let lines = [of("1"), of("64"), on("0"), on("1")];
        let lines = super::lines(&suite(&lines), Unit::Nanoseconds);
        assert_eq!((lines.len(), lines[0].key), (1, "descriptors"));
        assert_eq!(lines[0].figures[0].lines[0].label, "send, kind seqpacket");
    }
}
