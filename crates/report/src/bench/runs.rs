//! Several runs of the same benchmarks as one result.

use std::collections::BTreeMap;

use super::result::{BenchReport, Benchmark};
use super::summary::Summary;

impl BenchReport {
    /// One result of several runs on one machine, in which the median of each run is a sample.
    ///
    /// All samples of a run share what chance gave that run: where its code and memory lie, what else the machine did. A
    /// thousand of them say nothing about the next run. The medians of several runs do, so that verdicts on them hold for runs
    /// to come. The rest is that of the first run. A benchmark whose unit changes between runs keeps the first one's.
    /// Floors are taken from the same run as what must reach them, so the median of the floors is the floor.
    ///
    /// `None`: there is no run.
    #[must_use]
    pub fn of_runs(runs: &[Self]) -> Option<Self> {
        let first = runs.first()?;
        let mut medians: BTreeMap<String, Benchmark> = BTreeMap::new();
        let mut floors: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let mut skipped = Vec::new();
        for run in runs {
            for benchmark in &run.benchmarks {
                let fresh = || Benchmark { samples: Vec::new(), ..benchmark.clone() };
                let known = medians.entry(benchmark.id()).or_insert_with(fresh);
                let median = Summary::new(&benchmark.samples).ok().filter(|_| known.unit == benchmark.unit);
                known.samples.extend(median.map(|summary| summary.median));
                floors.entry(benchmark.id()).or_default().extend(benchmark.floor.iter().map(|floor| floor.value));
            }
            for group in &run.skipped {
                if !skipped.contains(group) {
                    skipped.push(group.clone());
                }
            }
        }
        for (id, benchmark) in &mut medians {
            let median = floors.get(id).and_then(|floors| Summary::new(floors).ok()).map(|summary| summary.median);
            if let Some((floor, median)) = benchmark.floor.as_mut().zip(median) {
                floor.value = median;
            }
        }
        Some(Self { benchmarks: medians.into_values().collect(), skipped, ..first.clone() })
    }

    /// The same run, of which nothing was measured.
    pub(in crate::bench) fn without_samples(&self) -> Self {
        Self { benchmarks: Vec::new(), skipped: Vec::new(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Floor, Skipped, Unit};

    fn run(samples: &[f64]) -> BenchReport {
        let (suite, name) = ("control".to_owned(), "mem_create".to_owned());
        let unit = Unit::Nanoseconds;
        let benchmark = Benchmark { suite, name, parameters: [].into(), unit, samples: samples.to_vec(), floor: None };
        let skipped = Skipped { id: "bandwidth/peer".to_owned(), reason: "one device only".to_owned() };
        let empty = BenchReport::new("sim", "2026-01-31T12:00:00Z");
        BenchReport { benchmarks: vec![benchmark], skipped: vec![skipped], ..empty }
    }

    #[test]
    fn each_run_is_one_sample() {
        let report = BenchReport::of_runs(&[run(&[1.0, 2.0, 9.0]), run(&[4.0]), run(&[])]).unwrap();
        assert_eq!(report.benchmarks[0].samples, [2.0, 4.0]);
        assert_eq!(report.skipped.len(), 1);
        assert_eq!(BenchReport::of_runs(&[]), None);
    }

    #[test]
    fn the_floor_of_several_runs_is_the_median_of_theirs() {
        let with = |value: f64| {
            let mut report = run(&[1.0]);
            report.benchmarks[0].floor = Some(Floor { value, source: "a test".to_owned() });
            report
        };
        let report = BenchReport::of_runs(&[with(9.0), with(2.0), with(3.0)]).unwrap();
        assert_eq!(report.benchmarks[0].floor.as_ref().unwrap().value, 3.0);
    }
}
