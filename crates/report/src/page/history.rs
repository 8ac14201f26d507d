//! How medians went over many results, with the steps that last.

use std::collections::HashMap;

use maud::{Markup, html};

use crate::bench::{BenchReport, Interval, Summary, Unit};

use super::change::{Step, steps};
use super::figure::{self, Area, At, MARGIN, Tick};
use super::measured::Suite;
use super::scale::{Scale, range};
use super::table::plural;
use super::time;

/// Two results are a comparison, not a history.
const FEWEST: usize = 3;
/// How many benchmarks of a suite are drawn.
const MOST: usize = 24;
/// Up to how many results each has a dot.
const DOTS: usize = 40;
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 132.0;
const AREA: Area = Area { x: 56.0..WIDTH - MARGIN, y: 17.0..HEIGHT - 22.0 };
/// The least extent of the axis of values, as a share: noise is not to look like an event.
const LEAST_EXTENT: f64 = 0.1;

/// The results that can be compared with the last one, oldest first, with the medians of each benchmark.
pub(super) struct Histories<'r> {
    reports: Vec<&'r BenchReport>,
    /// When each was made; without times, their order.
    when: Vec<f64>,
    medians: HashMap<String, Vec<(usize, Summary)>>,
}

/// What one benchmark's history is.
struct History<'h> {
    id: String,
    label: String,
    unit: Unit,
    medians: &'h [(usize, Summary)],
    steps: Vec<Step>,
}

impl<'r> Histories<'r> {
    /// From results that are comparable.
    pub(super) fn new(mut reports: Vec<&'r BenchReport>) -> Self {
        reports.sort_by(|one, two| one.started.cmp(&two.started));
        let times: Option<Vec<i64>> = reports.iter().map(|report| time::seconds(&report.started)).collect();
        let when = match times {
            Some(times) => times.into_iter().map(|seconds| seconds as f64).collect(),
            None => (0..reports.len()).map(|number| number as f64).collect(),
        };
        let mut medians: HashMap<String, Vec<(usize, Summary)>> = HashMap::new();
        let enough = if reports.len() < FEWEST { &[] } else { &*reports };
        for (number, report) in enough.iter().enumerate() {
            for benchmark in &report.benchmarks {
                if let Ok(summary) = Summary::new(&benchmark.samples) {
                    medians.entry(benchmark.id()).or_default().push((number, summary));
                }
            }
        }
        Self { reports, when, medians }
    }

    /// How many results there are, from when until when.
    pub(super) fn extent(&self) -> String {
        let ends = self.reports.first().zip(self.reports.last());
        ends.map_or_else(String::new, |(first, last)| {
            let (first, last) = (time::show(&first.started), time::show(&last.started));
            format!("{} results from {first} to {last}", self.reports.len())
        })
    }

    /// The figures of a suite, and what is said about those left out. Benchmarks with a step come first.
    pub(super) fn figures(&self, suite: &Suite<'_>) -> (Vec<Markup>, Option<String>) {
        let mut all: Vec<History<'_>> = suite
            .all
            .iter()
            .filter_map(|one| {
                let id = one.benchmark.id();
                let medians = self.medians.get(&id).filter(|medians| medians.len() >= FEWEST)?;
                let values: Vec<f64> = medians.iter().map(|(_, summary)| summary.median).collect();
                let (label, unit) = (one.label(&[]), one.benchmark.unit);
                Some(History { id, label, unit, medians, steps: steps(&values) })
            })
            .collect();
        all.sort_by_key(|history| history.steps.is_empty());
        let left_out = all.get(MOST..).unwrap_or_default();
        let stepped = left_out.iter().filter(|history| !history.steps.is_empty()).count();
        let stepped = if stepped == 0 {
            "none of them has a step".to_owned()
        } else {
            plural(stepped, "has a step", "have a step")
        };
        let said = (!left_out.is_empty()).then(|| format!("{} more are not drawn; {stepped}.", left_out.len()));
        (all.iter().take(MOST).map(|history| self.draw(history)).collect(), said)
    }

    fn draw(&self, history: &History<'_>) -> Markup {
        let History { id, label, unit, medians, steps } = history;
        let across = Scale::linear(range(self.when.iter().copied()), (AREA.x.start, AREA.x.end));
        let up = up(medians);
        let x = |number: usize| across.place(self.when[number]);
        let dots = medians.len() <= DOTS;
        html! {
            figure {
                figcaption { (label) small { (self.told(medians, steps)) } }
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" {
                    title { "History of " (id) }
                    desc { (self.describe(*unit, medians, steps)) }
                    (figure::rows(&AREA, *unit, &up, 3))
                    (figure::columns(&AREA, &self.dates(&across)))
                    path.band d=(band(medians, x, &up)) {}
                    path.line.c0 d=(line(medians, x, &up)) {}
                    @if dots {
                        @for (number, summary) in *medians { path.mark.c0 d=(dot(x(*number), up.place(summary.median))) {} }
                    }
                    @for step in steps { (self.step(step, medians, &across)) }
                }
            }
        }
    }

    /// A step: a line between the two results that it lies between, and its share.
    fn step(&self, step: &Step, medians: &[(usize, Summary)], across: &Scale) -> Markup {
        let place = |at: usize| across.place(self.when[medians[at].0]);
        let x = f64::midpoint(place(step.at - 1), place(step.at));
        let class = if x > f64::midpoint(AREA.x.start, AREA.x.end) { "step end" } else { "step" };
        let aside = if class == "step" { 4.0 } else { -4.0 };
        html! {
            path.step d={ "M" (At(x)) " " (At(AREA.y.start - 6.0)) "V" (At(AREA.y.end)) } {}
            text.(class) x=(At(x + aside)) y=(At(AREA.y.start + 2.0)) { (share(step.change)) }
        }
    }

    /// The steps in words, with the first result that has the last of them.
    fn told(&self, medians: &[(usize, Summary)], steps: &[Step]) -> String {
        let Some(last) = steps.last() else { return "no step".to_owned() };
        let began = time::show(&self.reports[medians[last.at].0].started);
        let last = format!("{}, since {began}", share(last.change));
        if steps.len() == 1 {
            format!("a step of {last}")
        } else {
            format!("{} steps, the last of {last}", steps.len())
        }
    }

    fn describe(&self, unit: Unit, medians: &[(usize, Summary)], steps: &[Step]) -> String {
        let (first, last) = (&medians[0].1, &medians[medians.len() - 1].1);
        let (first, last) = (unit.show(first.median), unit.show(last.median));
        format!("{} medians, the first {first}, the last {last}; {}", medians.len(), self.told(medians, steps))
    }

    fn dates(&self, across: &Scale) -> Vec<Tick> {
        let ends = self.reports.iter().zip(&self.when);
        let first = ends.clone().next();
        let last = ends.clone().next_back();
        // Within a day the date says nothing.
        let day = |report: &BenchReport| report.started.get(..10).map(str::to_owned);
        let same = first.and_then(|(report, _)| day(report)) == last.and_then(|(report, _)| day(report));
        let text = |report: &BenchReport| {
            let shown = time::show(&report.started);
            let part = if same { shown.get(11..16) } else { shown.get(..10) };
            part.map_or_else(|| figure::cut(&shown, 12), str::to_owned)
        };
        let ticks = first.into_iter().chain(last);
        ticks.map(|(report, when)| Tick { at: across.place(*when), text: text(report) }).collect()
    }
}

/// The axis of values: all medians, and of the intervals what lies near them.
fn up(medians: &[(usize, Summary)]) -> Scale {
    let (low, high) = range(medians.iter().map(|(_, summary)| summary.median));
    let room = (0.1 * (high - low)).max((LEAST_EXTENT * high.abs() - (high - low)) / 2.0);
    Scale::linear((low - room, high + room), (AREA.y.end, AREA.y.start))
}

fn interval(summary: &Summary) -> Interval {
    summary.interval.unwrap_or(Interval { low: summary.median, high: summary.median })
}

/// The intervals, there along their upper ends and back along their lower ones.
fn band(medians: &[(usize, Summary)], x: impl Fn(usize) -> f64, up: &Scale) -> String {
    let end = |number: usize, value: f64| format!("{} {}", At(x(number)), At(up.place(value)));
    let there = medians.iter().map(|(number, summary)| end(*number, interval(summary).high));
    let back = medians.iter().rev().map(|(number, summary)| end(*number, interval(summary).low));
    format!("M{}z", there.chain(back).collect::<Vec<_>>().join("L"))
}

fn line(medians: &[(usize, Summary)], x: impl Fn(usize) -> f64, up: &Scale) -> String {
    let places = medians.iter().map(|(number, summary)| format!("{} {}", At(x(*number)), At(up.place(summary.median))));
    format!("M{}", places.collect::<Vec<_>>().join("L"))
}

fn dot(x: f64, y: f64) -> String {
    format!("M{} {}m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0z", At(x), At(y))
}

/// A change in words: `+12 %`.
fn share(change: f64) -> String {
    let percent = change * 100.0;
    if percent.abs() < 10.0 { format!("{percent:+.1} %") } else { format!("{percent:+.0} %") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Benchmark;
    use crate::page::made_up::benchmark;
    use crate::page::measured::suites;

    fn reports(medians: &[f64], started: impl Fn(usize) -> String) -> Vec<BenchReport> {
        let report = |(number, median): (usize, &f64)| {
            let mut report = BenchReport::new("sim", &started(number));
            report.benchmarks = vec![Benchmark { samples: vec![*median; 9], ..benchmark("s", "n", &[]) }];
            report
        };
        medians.iter().enumerate().map(report).collect()
    }

    fn drawn(reports: &[BenchReport]) -> Vec<String> {
        let figures = Histories::new(reports.iter().collect()).figures(&suites(&reports[0])[0]).0;
        figures.into_iter().map(Markup::into_string).collect()
    }

    fn day(number: usize) -> String {
        format!("2026-01-{:02}T12:00:00Z", number + 1)
    }

    #[test]
    fn a_step_is_marked_with_its_share() {
        let mut medians = vec![100.0; 10];
        medians.extend([125.0; 10]);
        let drawn = &drawn(&reports(&medians, day))[0];
        assert!(drawn.contains("a step of +25 %, since 2026-01-11 12:00 UTC"), "{drawn}");
        assert!(drawn.contains(">2026-01-01<") && drawn.contains(">2026-01-20<"), "{drawn}");
    }

    #[test]
    fn two_results_are_no_history() {
        assert!(drawn(&reports(&[1.0, 2.0], day)).is_empty());
        assert_eq!(drawn(&reports(&[1.0, 2.0, 3.0], day)).len(), 1);
    }

    #[test]
    fn results_without_readable_times_keep_their_order() {
        let drawn = &drawn(&reports(&[1.0, 2.0, 3.0], |number| format!("run {number}")))[0];
        assert!(drawn.contains(">run 0<") && !drawn.contains("NaN"), "{drawn}");
    }

    #[test]
    fn the_hour_is_told_within_a_day() {
        let drawn = &drawn(&reports(&[1.0, 2.0, 3.0], |number| format!("2026-01-01T0{number}:30:00Z")))[0];
        assert!(drawn.contains(">00:30<") && drawn.contains(">02:30<"), "{drawn}");
    }
}
