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

/// Measures suites one after the other, and puts what they give into a report. Of their groups those are measured whose id has
/// `filter` in it.
///
/// # Errors
/// [`BenchError`] of a group that failed; what only lacks something is skipped and noted.
pub fn measure(
    suites: &[&dyn Suite],
    filter: &str,
    rig: &Rig<'_>,
    report: &mut BenchReport,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(), BenchError> {
    let groups = suites.iter().flat_map(|suite| suite.plan(rig).into_iter().map(|group| (suite.name(), group)));
    let named = groups.map(|(suite, group)| (id(suite, &group), suite, group));
    let planned: Vec<(String, &'static str, Planned<'_>)> = named.filter(|(id, ..)| id.contains(filter)).collect();
    progress(&Progress::Planned(planned.len()));
    for (id, suite, group) in planned {
        progress(&Progress::Begins(id.clone()));
        match run(suite, group, rig.effort, report) {
            Ok(samples) => progress(&Progress::Ended(samples)),
            Err(error) if error.is_lack() => {
                let reason = error.to_string();
                progress(&Progress::Skipped(format!("{id}: {reason}")));
                report.skipped.push(Skipped { id, reason });
            }
            Err(error) => return Err(error),
        }
        rig.work_on(0)?;
    }
    Ok(())
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
    effort: Effort,
    report: &mut BenchReport,
) -> Result<usize, BenchError> {
    let Planned { outputs, parameters, make } = planned;
    let samples = sample(&mut *make()?, outputs.len(), effort)?;
    let medians: Vec<f64> = samples.iter().map(|samples| median(samples)).collect();
    let count = samples.first().map_or(0, Vec::len);
    for (output, samples) in outputs.iter().zip(samples) {
        report.benchmarks.push(Benchmark {
            suite: suite.to_owned(),
            name: output.name.to_owned(),
            parameters: parameters.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
            unit: output.unit,
            samples,
            floor: floor(output, &outputs, &medians),
            peak: output.peak.clone(),
        });
    }
    Ok(count)
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
    }
    let mut samples = vec![Vec::new(); outputs];
    for round in 1..=effort.most {
        for (samples, sample) in samples.iter_mut().zip(group.sample()?) {
            samples.push(sample);
        }
        // The look at the intervals costs more the more there is to look at, so it is taken now and then.
        let looks = round.is_multiple_of(10) || round < 10;
        let certain = || looks && samples.iter().all(|samples| width(samples) <= effort.width);
        if round >= effort.least && (start.elapsed() >= effort.time || certain()) {
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
