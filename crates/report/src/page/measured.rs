//! Benchmarks with their samples in a few numbers, and what their parameters say.

use crate::bench::{BenchReport, Benchmark, Interval, Summary, Unit};

/// The names that parameters have for the two ends of a transfer.
const ENDS: [(&str, &str); 2] = [("from", "to"), ("src", "dst")];

/// A benchmark and its samples in a few numbers.
pub(super) struct Measured<'r> {
    pub(super) benchmark: &'r Benchmark,
    /// `None`: there is no sample, or one is no number.
    pub(super) summary: Option<Summary>,
}

impl<'r> Measured<'r> {
    pub(super) fn new(benchmark: &'r Benchmark) -> Self {
        Self { benchmark, summary: Summary::new(&benchmark.samples).ok() }
    }

    pub(super) fn parameter(&self, key: &str) -> Option<&'r str> {
        self.benchmark.parameters.get(key).map(String::as_str)
    }

    /// Between which devices something was moved.
    pub(super) fn ends(&self) -> Option<(&'r str, &'r str)> {
        ENDS.iter().find_map(|(from, to)| Some((self.parameter(from)?, self.parameter(to)?)))
    }

    /// The name, and the parameters that are not among these keys: `copy, 0 to 1, engine ce`.
    pub(super) fn label(&self, without: &[&str]) -> String {
        let ends = ENDS.iter().find(|(from, to)| self.parameter(from).is_some() && self.parameter(to).is_some());
        let ends = ends.filter(|(from, to)| !without.contains(from) && !without.contains(to));
        let is_end = |key: &str| ends.is_some_and(|(from, to)| [*from, *to].contains(&key));
        let mut label = self.benchmark.name.clone();
        if let Some((from, to)) = ends.and_then(|_| self.ends()) {
            label.push_str(&format!(", {from} to {to}"));
        }
        let parameters = self.benchmark.parameters.iter().map(|(key, value)| (key.as_str(), value));
        let told = parameters.filter(|(key, _)| !without.contains(key) && !is_end(key));
        told.fold(label, |label, (key, value)| format!("{label}, {}", words(key, value)))
    }
}

/// A parameter in words. A size says what it is by its unit.
fn words(key: &str, value: &str) -> String {
    if key == "size" { value.to_owned() } else { format!("{} {value}", key.replace('_', " ")) }
}

/// An interval in words: `34.1 us to 34.5 us`.
pub(super) fn show(unit: Unit, interval: Option<Interval>) -> String {
    interval.map_or_else(
        || "too few samples".to_owned(),
        |Interval { low, high }| format!("{} to {}", unit.show(low), unit.show(high)),
    )
}

/// The benchmarks of a suite, in the order of the result.
pub(super) struct Suite<'r> {
    pub(super) name: &'r str,
    pub(super) all: Vec<Measured<'r>>,
}

/// The suites of a result, in the order in which they come.
pub(super) fn suites(report: &BenchReport) -> Vec<Suite<'_>> {
    let mut suites: Vec<Suite<'_>> = Vec::new();
    for benchmark in &report.benchmarks {
        let measured = Measured::new(benchmark);
        match suites.iter_mut().find(|suite| suite.name == benchmark.suite) {
            Some(suite) => suite.all.push(measured),
            None => suites.push(Suite { name: &benchmark.suite, all: vec![measured] }),
        }
    }
    suites
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::made_up::benchmark;

    #[test]
    fn parameters_are_told_in_words() {
        let one = benchmark("copy", "peer", &[("from", "0"), ("to", "1"), ("size", "2 MiB"), ("engine", "ce")]);
        let measured = Measured::new(&one);
        assert_eq!(measured.ends(), Some(("0", "1")));
        assert_eq!(measured.label(&["from", "to"]), "peer, engine ce, 2 MiB");
        assert_eq!(measured.label(&["size"]), "peer, 0 to 1, engine ce");
    }

    #[test]
    fn samples_that_are_no_numbers_give_no_summary() {
        let one = Benchmark { samples: vec![1.0, f64::NAN], ..benchmark("s", "n", &[]) };
        assert!(Measured::new(&one).summary.is_none());
        assert!(Measured::new(&Benchmark { samples: Vec::new(), ..one }).summary.is_none());
    }
}
