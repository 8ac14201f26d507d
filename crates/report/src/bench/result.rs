//! The result file of benchmarks.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::machine::{Guard, Load, Machine};
use super::summary::Summary;
use super::unit::{Better, Unit};
use crate::run::Provenance;

/// The number of the schema of [`BenchReport`]. Adding a key keeps it; changing or removing one does not.
pub const BENCH_SCHEMA: u32 = 1;

/// What the key `kind` says.
const KIND: &str = "bench";

/// The result of a run of benchmarks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchReport {
    /// [`BENCH_SCHEMA`].
    #[cfg_attr(test, schemars(extend("const" = BENCH_SCHEMA)))]
    pub schema: u32,
    /// `bench`.
    #[cfg_attr(test, schemars(extend("const" = KIND)))]
    pub kind: String,
    /// When the run began, in UTC: `2026-01-31T12:00:00Z`.
    pub started: String,
    /// Where the samples come from: `sim`, `cuda`, or another tool, such as `nvbandwidth`.
    pub source: String,
    /// The profile of the simulated machine.
    pub profile: Option<String>,
    /// Whether fewer sizes and samples were taken.
    pub quick: bool,
    /// By which build.
    pub provenance: Option<Provenance>,
    /// On which machine.
    pub machine: Machine,
    /// What else the machine did.
    pub load: Load,
    /// What could have disturbed the run.
    pub guards: Vec<Guard>,
    /// What was measured.
    pub benchmarks: Vec<Benchmark>,
    /// What was not, and why.
    pub skipped: Vec<Skipped>,
}

/// One thing that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Benchmark {
    /// The name of its suite: `control`.
    pub suite: String,
    /// Its name in the suite: `mem_create`.
    pub name: String,
    /// What it was measured for: `size` is `2 MiB`, `device` is `0`.
    pub parameters: BTreeMap<String, String>,
    /// What the samples are numbers of.
    pub unit: Unit,
    /// Every sample, in the order in which they were taken, without those of the warm-up.
    pub samples: Vec<f64>,
    /// What the median must reach, or the run fails.
    #[serde(default)]
    pub floor: Option<Floor>,
    /// What the link that it uses can do at most.
    #[serde(default)]
    pub peak: Option<Peak>,
}

/// The most that a benchmark could reach, if nothing but the link took time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Peak {
    /// The value, in the unit of the benchmark.
    pub value: f64,
    /// How it is known: `18 NVLinks of 26.562 GB/s`.
    pub source: String,
}

/// What the median of a benchmark must reach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Floor {
    /// The value, in the unit of the benchmark.
    pub value: f64,
    /// Where it comes from: `94 % of cuMemsetD8Async in the same run`.
    pub source: String,
}

/// A benchmark that was not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Skipped {
    /// Which: its id, or the id of a group of them.
    pub id: String,
    /// Why.
    pub reason: String,
}

impl Benchmark {
    /// Suite, name and parameters as one text, the same in every run: `control/mem_create/device=0/size=2 MiB`.
    #[must_use]
    pub fn id(&self) -> String {
        let mut id = format!("{}/{}", self.suite, self.name);
        for (key, value) in &self.parameters {
            id.push('/');
            id.push_str(key);
            id.push('=');
            id.push_str(value);
        }
        id
    }

    /// The median as a part of what the link can do at most, where that is known.
    #[must_use]
    pub fn part_of_peak(&self) -> Option<f64> {
        let median = Summary::new(&self.samples).ok()?.median;
        Some(median / self.peak.as_ref()?.value)
    }

    /// The floor, where the median does not reach it.
    #[must_use]
    pub fn missed_floor(&self) -> Option<&Floor> {
        let median = || Summary::new(&self.samples).ok().map(|summary| summary.median);
        self.floor.as_ref().filter(|floor| !floor.is_reached(median(), self.unit))
    }
}

impl Skipped {
    /// Whether this says why a benchmark is not there: it was skipped itself, or a group that it belongs to.
    #[must_use]
    pub fn covers(&self, id: &str) -> bool {
        id.strip_prefix(self.id.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl Floor {
    /// Whether a median reaches it; on which side that is depends on the unit. What has no median reaches none.
    #[must_use]
    pub fn is_reached(&self, median: Option<f64>, unit: Unit) -> bool {
        median.is_some_and(|median| match unit.better() {
            Better::Higher => median >= self.value,
            Better::Lower => median <= self.value,
        })
    }
}

/// Why a text is no result file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is no JSON, or lacks something.
    #[error("it is no result of benchmarks: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It is a result of something else.
    #[error("it is a result of {0:?}, not of benchmarks")]
    Kind(String),
    /// Two benchmarks in it have one id, so that nobody can say which of them counts.
    #[error("the benchmark {0:?} stands in it twice")]
    Twice(String),
    /// No version ever wrote it.
    #[error("its schema is {found}, and the first one was 1")]
    Older {
        /// The schema of the file.
        found: u32,
    },
    /// It was written by a newer version.
    #[error("its schema is {found}, and this version reads up to {BENCH_SCHEMA}: a newer peermap reads it")]
    Newer {
        /// The schema of the file.
        found: u32,
    },
}

impl BenchReport {
    /// An empty result.
    #[must_use]
    pub fn new(source: &str, started: &str) -> Self {
        Self {
            schema: BENCH_SCHEMA,
            kind: KIND.to_owned(),
            started: started.to_owned(),
            source: source.to_owned(),
            profile: None,
            quick: false,
            provenance: None,
            machine: Machine::default(),
            load: Load::default(),
            guards: Vec::new(),
            benchmarks: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Reads a result file.
    ///
    /// # Errors
    /// [`ReadError`]: it is something else, newer than this version, or says two things of one benchmark.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        /// What every version has.
        #[derive(Deserialize)]
        #[serde(expecting = "an object with the key `schema`")]
        struct Head {
            schema: u32,
            #[serde(default)]
            kind: Option<String>,
        }
        let text = without_mark(text);
        let head: Head = serde_json::from_str(text)?;
        match head.kind {
            Some(kind) if kind == KIND => {}
            other => return Err(ReadError::Kind(other.unwrap_or_else(|| "a scenario".to_owned()))),
        }
        if head.schema > BENCH_SCHEMA {
            return Err(ReadError::Newer { found: head.schema });
        }
        if head.schema == 0 {
            return Err(ReadError::Older { found: head.schema });
        }
        let report: Self = serde_json::from_str(text)?;
        let mut ids = BTreeSet::new();
        match report.benchmarks.iter().map(Benchmark::id).find(|id| !ids.insert(id.clone())) {
            Some(twice) => Err(ReadError::Twice(twice)),
            None => Ok(report),
        }
    }
}

/// A text without the byte order mark that some systems put before it.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> BenchReport {
        let mut report = BenchReport::new("sim", "2026-01-31T12:00:00Z");
        report.benchmarks.push(Benchmark {
            suite: "control".to_owned(),
            name: "mem_create".to_owned(),
            parameters: [("size", "2 MiB"), ("device", "0")].map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
            unit: Unit::Nanoseconds,
            samples: vec![14_700.0, 14_900.0],
            floor: None,
            peak: None,
        });
        report
    }

    #[test]
    fn a_result_reads_back_with_every_sample() {
        let text = serde_json::to_string(&report()).unwrap();
        assert_eq!(BenchReport::read(&text).unwrap(), report());
        assert_eq!(report().benchmarks[0].id(), "control/mem_create/device=0/size=2 MiB");
    }

    #[test]
    fn a_floor_is_missed_on_the_side_that_is_worse() {
        let missed = |unit, value, samples: &[f64]| {
            let floor = Some(Floor { value, source: "a test".to_owned() });
            let one = report().benchmarks.remove(0);
            Benchmark { unit, floor, samples: samples.to_vec(), ..one }.missed_floor().is_some()
        };
        let ten = &[10.0; 3];
        assert!(missed(Unit::GigabytesPerSecond, 11.0, ten) && !missed(Unit::GigabytesPerSecond, 10.0, ten));
        assert!(missed(Unit::Nanoseconds, 9.0, ten) && !missed(Unit::Nanoseconds, 10.0, ten));
        assert!(missed(Unit::Nanoseconds, 9.0, &[]) && missed(Unit::Nanoseconds, 9.0, &[f64::NAN]));
        assert_eq!(report().benchmarks[0].missed_floor(), None);
    }

    #[test]
    fn a_skipped_group_covers_its_own_and_no_other() {
        let group = Skipped { id: "control/mem".to_owned(), reason: String::new() };
        assert!(group.covers("control/mem") && group.covers("control/mem/size=2 MiB"));
        assert!(!group.covers("control/mem_create") && !group.covers("control"));
    }

    #[test]
    fn what_is_newer_or_something_else_is_refused_by_its_name() {
        let newer = serde_json::to_string(&BenchReport { schema: BENCH_SCHEMA + 1, ..report() }).unwrap();
        assert!(BenchReport::read(&newer).unwrap_err().to_string().contains("a newer peermap"));
        let other = r#"{"schema": 1, "scenario": "memmap-ipc"}"#;
        assert!(BenchReport::read(other).unwrap_err().to_string().contains("a scenario"));
        assert!(matches!(BenchReport::read("{"), Err(ReadError::Malformed(_))));
        assert!(BenchReport::read("null").unwrap_err().to_string().contains("an object with the key `schema`"));
        let never = serde_json::to_string(&BenchReport { schema: 0, ..report() }).unwrap();
        assert_eq!(BenchReport::read(&never).unwrap_err().to_string(), "its schema is 0, and the first one was 1");
    }

    #[test]
    fn a_benchmark_that_stands_twice_is_refused_and_a_mark_before_the_text_is_not() {
        let mut twice = report();
        twice.benchmarks.push(Benchmark { samples: vec![1.0], ..twice.benchmarks[0].clone() });
        let error = BenchReport::read(&serde_json::to_string(&twice).unwrap()).unwrap_err().to_string();
        assert_eq!(error, "the benchmark \"control/mem_create/device=0/size=2 MiB\" stands in it twice");
        let marked = format!("\u{feff}{}", serde_json::to_string(&report()).unwrap());
        assert_eq!(BenchReport::read(&marked).unwrap(), report());
    }
}
