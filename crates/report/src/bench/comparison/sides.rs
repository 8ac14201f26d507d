//! What a comparison says of each result and of each benchmark.

use serde::Serialize;

use crate::bench::machine::Machine;
use crate::bench::result::{BenchReport, Benchmark, Skipped};
use crate::bench::summary::{SampleError, Summary};
use crate::bench::unit::Unit;
use crate::bench::verdict::{Change, Threshold, Verdict};
use crate::run::Provenance;

/// One of the two results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// How many runs it has. If there are several, each one's median is a sample.
    pub runs: usize,
    /// When its first run began.
    pub started: String,
    /// Where its samples come from.
    pub source: String,
    /// The profile of its simulated machine.
    pub profile: Option<String>,
    /// Whether fewer sizes and samples were taken.
    pub quick: bool,
    /// By which build.
    pub provenance: Option<Provenance>,
    /// On which machine.
    pub machine: Machine,
    /// What was not measured, and why.
    pub skipped: Vec<Skipped>,
}

impl Side {
    pub(super) fn of(report: &BenchReport, runs: usize) -> Self {
        Self {
            runs,
            started: report.started.clone(),
            source: report.source.clone(),
            profile: report.profile.clone(),
            quick: report.quick,
            provenance: report.provenance.clone(),
            machine: report.machine.clone(),
            skipped: report.skipped.clone(),
        }
    }

    /// Why a benchmark was not measured, if that is known.
    #[must_use]
    pub fn why_skipped(&self, id: &str) -> Option<&str> {
        self.skipped.iter().find(|skipped| skipped.covers(id)).map(|skipped| skipped.reason.as_str())
    }
}

/// A benchmark that both results have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// Its id.
    pub id: String,
    /// What its samples are numbers of. Where the two differ, the unit of the base.
    pub unit: Unit,
    /// What the two say about each other.
    pub verdict: Verdict,
    /// How it changed. `None`: `reason` says why that is not known.
    pub change: Option<Change>,
    /// Why nothing can be said, where that is not because of noise.
    pub reason: Option<String>,
    /// The samples of the base.
    pub base: Option<Summary>,
    /// The new samples.
    pub new: Option<Summary>,
}

impl Compared {
    pub(super) fn of(base: &Benchmark, new: &Benchmark, judge: Judge, threshold: Threshold) -> Self {
        let (change, reason) = match changed(base, new, judge, threshold) {
            Ok(change @ Change { interval: Some(_), .. }) => (Some(change), None),
            Ok(change) => {
                (Some(change), Some(format!("too few samples: {} and {}", base.samples.len(), new.samples.len())))
            }
            Err(reason) => (None, Some(reason)),
        };
        Self {
            id: base.id(),
            unit: base.unit,
            verdict: change.map_or(Verdict::Ambiguous, |change| change.verdict),
            change,
            reason,
            base: Summary::new(&base.samples).ok(),
            new: Summary::new(&new.samples).ok().filter(|_| base.unit == new.unit),
        }
    }

    /// How many times as slow it is; 1 where that is not known.
    pub(super) fn ratio(&self) -> f64 {
        self.change.map_or(1.0, |change| change.ratio)
    }

    /// Its cells after the id: base, new, their ratio, and its interval or why there is none.
    pub(crate) fn cells(&self) -> [String; 4] {
        let median = |side: Option<Summary>| side.map_or_else(|| "-".to_owned(), |side| self.unit.show(side.median));
        let ratio = self.change.map_or_else(|| "-".to_owned(), |change| show_ratio(change.ratio));
        let interval = self.change.and_then(|change| change.interval);
        let interval = match (interval, &self.reason) {
            (Some(interval), _) => format!("{} to {}", show_ratio(interval.low), show_ratio(interval.high)),
            (None, Some(reason)) => reason.clone(),
            (None, None) => "-".to_owned(),
        };
        [median(self.base), median(self.new), ratio, interval]
    }
}

/// A ratio with three decimals, or with a power of ten where they say nothing.
fn show_ratio(ratio: f64) -> String {
    if (0.001..1e6).contains(&ratio) { format!("{ratio:.3}") } else { format!("{ratio:.2e}") }
}

/// What judges samples of both sides: [`Change::between`] or [`Change::of_pairs`].
pub(super) type Judge = fn(&[f64], &[f64], Unit, Threshold) -> Result<Change, SampleError>;

fn changed(base: &Benchmark, new: &Benchmark, judge: Judge, threshold: Threshold) -> Result<Change, String> {
    if base.unit != new.unit {
        return Err(format!("units differ: {} and {}", base.unit, new.unit));
    }
    // Each side alone first, so that the one with the fault is named.
    let alone = |side: &str, samples: &[f64]| {
        let judged = judge(samples, samples, base.unit, threshold);
        judged.map_err(|error: SampleError| format!("{side}: {error}"))
    };
    alone("base", &base.samples)?;
    alone("new", &new.samples)?;
    judge(&base.samples, &new.samples, base.unit, threshold).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn benchmark(unit: Unit, samples: &[f64]) -> Benchmark {
        let (suite, name) = ("control".to_owned(), "mem_create".to_owned());
        Benchmark { suite, name, parameters: [].into(), unit, samples: samples.to_vec(), floor: None, peak: None }
    }

    fn reason(base: &Benchmark, new: &Benchmark) -> String {
        let compared = Compared::of(base, new, Change::between, Threshold::default());
        assert_eq!(compared.verdict, Verdict::Ambiguous);
        compared.reason.unwrap()
    }

    #[test]
    fn what_cannot_be_judged_says_why() {
        let good = benchmark(Unit::Nanoseconds, &[1.0, 2.0]);
        let rate = benchmark(Unit::GigabytesPerSecond, &[1.0, 2.0]);
        assert_eq!(reason(&good, &good), "too few samples: 2 and 2");
        assert_eq!(reason(&good, &rate), "units differ: ns and GB/s");
        assert_eq!(reason(&good, &benchmark(Unit::Nanoseconds, &[])), "new: there is no sample");
        let zero = benchmark(Unit::Nanoseconds, &[1.0, 0.0]);
        assert_eq!(reason(&zero, &good), "base: sample 1 is 0, and a ratio needs one above 0");
    }

    #[test]
    fn cells_are_medians_ratio_and_interval() {
        let (base, new) = (benchmark(Unit::Nanoseconds, &[100.0; 9]), benchmark(Unit::Nanoseconds, &[1.3e5; 9]));
        let compared = Compared::of(&base, &new, Change::between, Threshold::default());
        assert_eq!(compared.cells(), ["100 ns", "130 us", "1300.000", "1300.000 to 1300.000"]);
        assert_eq!(compared.reason, None);
        let huge =
            Compared::of(&base, &benchmark(Unit::Nanoseconds, &[1e302; 9]), Change::between, Threshold::default());
        assert_eq!(huge.cells(), ["100 ns", "1.00e293 s", "1.00e300", "1.00e300 to 1.00e300"]);
    }
}
