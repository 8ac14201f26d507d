//! Running a suite: warm-up, samples, when it is enough.

use std::time::Instant;

use peermap_report::bench::{BenchReport, Benchmark, Floor, Skipped, Summary};

use crate::effort::Effort;
use crate::error::BenchError;
use crate::rig::Rig;
use crate::suite::{Group, Output, Planned, Suite};

/// What happens while benchmarks run.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// So many groups are to be measured.
    Planned(usize),
    /// A group begins.
    Begins(String),
    /// A group has ended, with so many samples of each output.
    Ended(usize),
    /// A group gave no samples, and why.
    Skipped(String),
}

/// A group that failed.
#[derive(Debug, thiserror::Error)]
#[error("{id}: {error}")]
pub struct GroupError {
    /// Which.
    pub id: String,
    /// Why.
    pub error: BenchError,
}

/// Measures suites one after the other, and puts what they give into a report. Of their groups those are measured that have a
/// benchmark with `filter` in its id, and of their benchmarks these.
///
/// What a machine lacks is skipped and noted, and so is a group that fails: the others are measured all the same.
///
/// # Errors
/// [`GroupError`] of the first group that failed.
pub fn measure(
    suites: &[&dyn Suite],
    filter: &str,
    rig: &Rig<'_>,
    report: &mut BenchReport,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(), GroupError> {
    let groups = suites.iter().flat_map(|suite| suite.plan(rig).into_iter().map(|group| (suite.name(), group)));
    let is_asked_for = |(suite, group): &(&'static str, Planned<'_>)| {
        group.outputs.iter().any(|output| benchmark(suite, output, &group.parameters).id().contains(filter))
    };
    let asked_for = groups.filter(is_asked_for).map(|(suite, group)| (id(suite, &group), suite, group));
    let planned: Vec<(String, &'static str, Planned<'_>)> = asked_for.collect();
    progress(&Progress::Planned(planned.len()));
    let mut failed = None;
    for (id, suite, group) in planned {
        progress(&Progress::Begins(id.clone()));
        match run(suite, group, filter, rig.effort, report) {
            Ok(samples) => progress(&Progress::Ended(samples)),
            Err(error) => {
                let lacks = error.is_lack();
                let reason = if lacks { error.to_string() } else { format!("it failed: {error}") };
                progress(&Progress::Skipped(format!("{id}: {reason}")));
                report.skipped.push(Skipped { id, reason });
                let failure =
                    (!lacks).then(|| GroupError { id: report.skipped[report.skipped.len() - 1].id.clone(), error });
                failed = failed.or(failure);
            }
        }
        // Whatever a group has left behind, a driver that refuses this refuses the next group too.
        drop(rig.work_on(0));
    }
    failed.map_or(Ok(()), Err)
}

/// A group in words: its suite, its outputs and what it is measured for.
fn id(suite: &str, group: &Planned<'_>) -> String {
    let outputs: Vec<&str> = group.outputs.iter().map(|output| output.name).collect();
    let mut id = format!("{suite}/{}", outputs.join("+"));
    for (key, value) in &group.parameters {
        id.push_str(&format!("/{key}={value}"));
    }
    id
}

fn run(
    suite: &'static str,
    planned: Planned<'_>,
    filter: &str,
    effort: Effort,
    report: &mut BenchReport,
) -> Result<usize, BenchError> {
    let Planned { outputs, parameters, make } = planned;
    let samples = sample(&mut *make()?, outputs.len(), effort)?;
    let medians: Vec<f64> = samples.iter().map(|samples| median(samples)).collect();
    let count = samples.first().map_or(0, Vec::len);
    for (output, samples) in outputs.iter().zip(samples) {
        let floor = floor(output, &outputs, &medians);
        let benchmark = Benchmark { samples, floor, ..benchmark(suite, output, &parameters) };
        if benchmark.id().contains(filter) {
            report.benchmarks.push(benchmark);
        }
    }
    Ok(count)
}

/// What an output is called, before it has samples.
fn benchmark(suite: &str, output: &Output, parameters: &[(&'static str, String)]) -> Benchmark {
    Benchmark {
        suite: suite.to_owned(),
        name: output.name.to_owned(),
        parameters: parameters.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
        unit: output.unit,
        samples: Vec::new(),
        floor: None,
        peak: output.peak.clone(),
    }
}

/// The floor of an output, from the median of another one of its group.
fn floor(output: &Output, outputs: &[Output], medians: &[f64]) -> Option<Floor> {
    let of = output.floor?;
    let (_, median) = outputs.iter().zip(medians).find(|(other, _)| other.name == of.output)?;
    let source = format!("{:.0} % of {} in the same run", of.part * 100.0, of.output);
    Some(Floor { value: of.part * median, source })
}

/// Samples of each output, until all are certain enough or the time is up.
fn sample(group: &mut dyn Group, outputs: usize, effort: Effort) -> Result<Vec<Vec<f64>>, BenchError> {
    let start = Instant::now();
    for _ in 0..effort.warm_up {
        group.sample()?;
        if start.elapsed() >= effort.time {
            break;
        }
    }
    let mut samples = vec![Vec::new(); outputs];
    for round in 1..=effort.most {
        for (samples, sample) in samples.iter_mut().zip(group.sample()?) {
            samples.push(sample);
        }
        // The look at the intervals costs more the more there is to look at, so it is taken now and then.
        let looks = round.is_multiple_of(10) || round < 10;
        let certain = || looks && samples.iter().all(|samples| width(samples) <= effort.width);
        let is_over = start.elapsed() >= effort.time && round >= effort.least_late.min(effort.least);
        if is_over || (round >= effort.least && certain()) {
            break;
        }
    }
    Ok(samples)
}

/// How wide the 95 % interval of the median is, as a part of the median.
fn width(samples: &[f64]) -> f64 {
    Summary::new(samples).map_or(f64::INFINITY, |summary| summary.relative_width())
}

fn median(samples: &[f64]) -> f64 {
    Summary::new(samples).map_or(f64::NAN, |summary| summary.median)
}
