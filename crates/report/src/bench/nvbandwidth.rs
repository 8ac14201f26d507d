//! Results of NVIDIA's nvbandwidth as a result of ours.
//!
//! The tool writes one object per run. It has a matrix for each test, of bandwidths or of latencies, with a row for each source
//! and a column for each destination; each cell is the median of what the tool measured, so that one run gives one sample.
//! Several runs on one machine give the samples that a verdict takes.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::machine::{DeviceFacts, Machine};
use super::result::{BenchReport, Benchmark, Skipped, without_mark};
use super::unit::Unit;

/// The suite, and the source of the samples.
pub(super) const NAME: &str = "nvbandwidth";

/// What a cell says where there is nothing to measure.
const NONE: &str = "N/A";

/// Where in the result the benchmark of an id stands.
type Places = HashMap<String, usize>;

/// Runs of nvbandwidth, one after the other, as one result.
///
/// ```
/// use peermap_report::bench::Nvbandwidth;
///
/// let run = r#"{"nvbandwidth": {"testcases": [{
///     "name": "host_to_device_memcpy_ce", "status": "Passed",
///     "bandwidth_description": "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)",
///     "bandwidth_matrix": [["55.1"]]
/// }]}}"#;
/// let mut runs = Nvbandwidth::new("2026-01-31T12:00:00Z");
/// runs.add(run)?;
/// runs.add(run)?;
/// let report = runs.finish();
/// assert_eq!(report.benchmarks[0].id(), "nvbandwidth/host_to_device_memcpy_ce/column=0/row=0");
/// assert_eq!(report.benchmarks[0].samples, [55.1, 55.1]);
/// # Ok::<(), peermap_report::bench::ImportError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Nvbandwidth {
    report: BenchReport,
    machine: Option<Machine>,
}

/// Why a text is no result of nvbandwidth that can be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It is no JSON, or has other keys.
    #[error("it is no result of nvbandwidth: {0}")]
    Malformed(#[from] serde_json::Error),
    /// A cell of a matrix is neither a number nor `N/A`.
    #[error("test {test}, row {row}, column {column}: {text:?} is no number")]
    Cell {
        /// The name of the test.
        test: String,
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// What is there.
        text: String,
    },
    /// It comes from another machine than an earlier run.
    #[error("it comes from another machine than the runs before it: {}", .0.join("; "))]
    Machine(Vec<String>),
}

/// The file.
#[derive(Deserialize)]
struct File {
    nvbandwidth: Run,
}

#[derive(Deserialize)]
struct Run {
    #[serde(rename = "CUDA Runtime Version")]
    cuda: Option<i32>,
    #[serde(rename = "Driver Version")]
    driver: Option<String>,
    #[serde(rename = "GPU Device list", default, deserialize_with = "or_nothing")]
    devices: Vec<String>,
    error: Option<Value>,
    warning: Option<Value>,
    /// Missing where the run ended before its first test.
    #[serde(default, deserialize_with = "or_nothing")]
    testcases: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    name: String,
    status: String,
    error: Option<Value>,
    #[serde(rename = "bandwidth_description", default, deserialize_with = "or_nothing")]
    description: String,
    /// A row without columns is `null`.
    #[serde(rename = "bandwidth_matrix", default, deserialize_with = "or_nothing")]
    matrix: Vec<Option<Vec<Value>>>,
}

/// A value, or `null` where there is none.
fn or_nothing<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    Option::deserialize(from).map(Option::unwrap_or_default)
}

impl Nvbandwidth {
    /// No run yet. The files do not say when they began, so whoever reads them does.
    #[must_use]
    pub fn new(started: &str) -> Self {
        Self { report: BenchReport::new(NAME, started), machine: None }
    }

    /// Adds a run; gives what the tool warned of.
    ///
    /// # Errors
    /// [`ImportError`]: it is no result of nvbandwidth, or one of another machine than those before. Nothing is added then.
    pub fn add(&mut self, text: &str) -> Result<Option<String>, ImportError> {
        let File { nvbandwidth: run } = serde_json::from_str(without_mark(text))?;
        let machine = run.machine();
        let differences = self.machine.as_ref().map(|known| known.differences(&machine)).unwrap_or_default();
        if !differences.is_empty() {
            return Err(ImportError::Machine(differences));
        }
        let mut report = self.report.clone();
        let known = report.benchmarks.iter().enumerate();
        let mut places: Places = known.map(|(place, one)| (one.id(), place)).collect();
        for (index, test) in run.testcases.iter().enumerate() {
            // A test that fails stands there twice: as it began, and as it ended.
            let ended = run.testcases[index + 1..].iter().any(|later| later.name == test.name);
            match test.outcome() {
                Outcome::Began if ended => {}
                Outcome::Began => skip(&mut report, test.id(), "it did not end".to_owned()),
                Outcome::Skipped(reason) => skip(&mut report, test.id(), reason),
                Outcome::Measured => test.measured(&mut report, &mut places)?,
            }
        }
        if run.testcases.is_empty() && run.error.is_none() {
            skip(&mut report, NAME.to_owned(), "the run has no test".to_owned());
        }
        if let Some(error) = &run.error {
            skip(&mut report, NAME.to_owned(), format!("the run ended: {}", words(error)));
        }
        self.report = report;
        self.machine.get_or_insert(machine);
        Ok(run.warning.as_ref().map(words))
    }

    /// The result.
    #[must_use]
    pub fn finish(self) -> BenchReport {
        BenchReport { machine: self.machine.unwrap_or_default(), ..self.report }
    }
}

impl Run {
    fn machine(&self) -> Machine {
        let devices = self.devices.iter().enumerate().map(|(index, text)| device(index, text)).collect();
        Machine { driver: self.driver.clone(), cuda: self.cuda, devices, ..Machine::default() }
    }
}

/// What came of a test.
enum Outcome {
    Began,
    Skipped(String),
    Measured,
}

impl Test {
    fn id(&self) -> String {
        format!("{NAME}/{}", self.name)
    }

    fn outcome(&self) -> Outcome {
        match (self.status.as_str(), &self.error) {
            ("Running", None) => Outcome::Began,
            ("Passed", None) if self.matrix.is_empty() => Outcome::Skipped("passed without a result".to_owned()),
            ("Passed", None) => Outcome::Measured,
            (status, None) => Outcome::Skipped(status.to_lowercase()),
            (status, Some(error)) => Outcome::Skipped(format!("{}: {}", status.to_lowercase(), words(error))),
        }
    }

    fn unit(&self) -> Unit {
        let description = self.description.to_lowercase();
        let is_time = description.contains("latency") || description.contains("(ns)");
        if is_time { Unit::Nanoseconds } else { Unit::GigabytesPerSecond }
    }

    /// Adds a sample for each cell of the matrix.
    fn measured(&self, report: &mut BenchReport, places: &mut Places) -> Result<(), ImportError> {
        let mut none = true;
        for (row, cells) in self.matrix.iter().enumerate() {
            for (column, cell) in cells.iter().flatten().enumerate() {
                let Some(sample) = self.sample(row, column, cell)? else { continue };
                none = false;
                let place = [("row", row), ("column", column)];
                let benchmark = Benchmark {
                    suite: NAME.to_owned(),
                    name: self.name.clone(),
                    parameters: place.map(|(key, value)| (key.to_owned(), value.to_string())).into(),
                    unit: self.unit(),
                    samples: Vec::new(),
                    floor: None,
                    peak: None,
                };
                let place = *places.entry(benchmark.id()).or_insert(report.benchmarks.len());
                if place == report.benchmarks.len() {
                    report.benchmarks.push(benchmark);
                }
                match &mut report.benchmarks[place] {
                    known if known.unit == self.unit() => known.samples.push(sample),
                    known => {
                        let units = format!("it is in {} and in {}", known.unit, self.unit());
                        skip(report, self.id(), units);
                    }
                }
            }
        }
        if none {
            skip(report, self.id(), format!("every cell is {NONE}"));
        }
        Ok(())
    }

    /// What a cell says. `None`: there is nothing to measure between the two.
    fn sample(&self, row: usize, column: usize, cell: &Value) -> Result<Option<f64>, ImportError> {
        let text = words(cell);
        if cell.is_null() || text == NONE {
            return Ok(None);
        }
        match text.trim().parse::<f64>() {
            Ok(sample) if sample.is_finite() => Ok(Some(sample)),
            _ => Err(ImportError::Cell { test: self.name.clone(), row, column, text }),
        }
    }
}

/// Counts what was not measured, once for each reason.
fn skip(report: &mut BenchReport, id: String, reason: String) {
    let skipped = Skipped { id, reason };
    if !report.skipped.contains(&skipped) {
        report.skipped.push(skipped);
    }
}

/// A device as the list says it: `0: NVIDIA H200 (00000000:0f:00)`. What does not look so is a name as a whole.
fn device(index: usize, text: &str) -> DeviceFacts {
    let (ordinal, rest) = text
        .split_once(": ")
        .and_then(|(ordinal, rest)| Some((ordinal.parse().ok()?, rest)))
        .unwrap_or((i32::try_from(index).unwrap_or(i32::MAX), text));
    let (name, bus) = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")).unwrap_or((rest, ""));
    DeviceFacts { ordinal, name: name.to_owned(), uuid: bus.to_owned(), memory: 0 }
}

/// A text without its quotes, or any other value as JSON.
fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
