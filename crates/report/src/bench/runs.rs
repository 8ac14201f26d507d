//! Several runs of the same benchmarks as one result.

use std::collections::{BTreeMap, BTreeSet};

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

    /// One result of each side of runs that were made in pairs, in which samples at the same place are of one pair. A run without a
    /// partner goes, and of a benchmark that both sides have, every median whose partner is missing.
    ///
    /// `None`: there is no pair.
    #[must_use]
    pub(in crate::bench) fn of_pairs(base: &[Self], new: &[Self]) -> Option<(Self, Self)> {
        let pairs = base.len().min(new.len());
        let (base, new) = (&base[..pairs], &new[..pairs]);
        Some((Self::of_runs(&with_partners(base, new))?, Self::of_runs(&with_partners(new, base))?))
    }

    /// The same run, of which nothing was measured.
    pub(in crate::bench) fn without_samples(&self) -> Self {
        Self { benchmarks: Vec::new(), skipped: Vec::new(), ..self.clone() }
    }
}

/// Runs without what their partners lack, unless no partner has it.
fn with_partners(runs: &[BenchReport], partners: &[BenchReport]) -> Vec<BenchReport> {
    let known: BTreeSet<String> = partners.iter().flat_map(|run| run.benchmarks.iter().map(Benchmark::id)).collect();
    let pairs = runs.iter().zip(partners).map(|(run, partner)| {
        let theirs = measured(partner);
        let has_partner = |(id, one): &(String, &Benchmark)| {
            !known.contains(id) || theirs.get(id).is_some_and(|other| other.unit == one.unit)
        };
        let ours = measured(run).into_iter().filter(has_partner);
        BenchReport { benchmarks: ours.map(|(_, benchmark)| benchmark.clone()).collect(), ..run.clone() }
    });
    pairs.collect()
}

/// The benchmarks of a run that have a median, by id; of two with one id the later one.
fn measured(run: &BenchReport) -> BTreeMap<String, &Benchmark> {
    let with_median = run.benchmarks.iter().filter(|benchmark| Summary::new(&benchmark.samples).is_ok());
    with_median.map(|benchmark| (benchmark.id(), benchmark)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Floor, Skipped, Unit};

    fn run(samples: &[f64]) -> BenchReport {
        let (suite, name) = ("control".to_owned(), "mem_create".to_owned());
        let unit = Unit::Nanoseconds;
        let benchmark =
            Benchmark { suite, name, parameters: [].into(), unit, samples: samples.to_vec(), floor: None, peak: None };
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
    fn samples_at_one_place_are_of_one_pair() {
        let (base, new) = ([run(&[1.0]), run(&[]), run(&[3.0]), run(&[4.0])], [run(&[5.0]), run(&[6.0]), run(&[7.0])]);
        let (base, new) = BenchReport::of_pairs(&base, &new).unwrap();
        assert_eq!((&base.benchmarks[0].samples, &new.benchmarks[0].samples), (&vec![1.0, 3.0], &vec![5.0, 7.0]));
        assert_eq!(BenchReport::of_pairs(&[run(&[1.0])], &[]), None);
    }

    #[test]
    fn what_only_one_side_has_stays_there() {
        let without = BenchReport { benchmarks: Vec::new(), ..run(&[]) };
        let (base, new) = BenchReport::of_pairs(&[run(&[1.0]), run(&[2.0])], &[without.clone(), without]).unwrap();
        assert_eq!((base.benchmarks[0].samples.len(), new.benchmarks.len()), (2, 0));
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
