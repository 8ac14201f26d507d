//! The suites on simulated machines: what they measure, what they leave out, and that they leave nothing behind.

use std::time::Duration;

use peermap_bench::{Alone, BenchError, Effort, Progress, Rig, SUITES, Suite, measure};
use peermap_driver::Driver;
use peermap_report::bench::{BenchReport, Unit};
use peermap_sim::SimMachine;

const LITTLE: Effort =
    Effort { warm_up: 1, least: 2, least_late: 2, most: 3, width: 0.5, time: Duration::from_millis(50), quick: true };

fn measured(profile: &str, suites: &[&dyn Suite], effort: Effort) -> (BenchReport, Vec<Progress>, usize) {
    let machine = SimMachine::named(profile).unwrap();
    let process = machine.process().unwrap();
    process.init(0).unwrap();
    let mut report = BenchReport::new("sim", "2026-01-31T12:00:00Z");
    let mut seen = Vec::new();
    let rig = Rig::new(&process, &Alone, effort, true).unwrap();
    measure(suites, "", &rig, &mut report, &mut |progress| seen.push(progress.clone())).unwrap();
    let left = machine.holders().unwrap().0.len();
    (report, seen, left)
}

#[test]
fn every_suite_gives_samples_above_nothing_and_leaves_nothing_behind() {
    let (report, _, left) = measured("h200-x2", SUITES, LITTLE);
    for suite in ["control", "bandwidth", "transport"] {
        assert!(report.benchmarks.iter().any(|benchmark| benchmark.suite == suite), "{suite}");
    }
    for benchmark in &report.benchmarks {
        assert!(benchmark.samples.len() >= 2, "{}", benchmark.id());
        assert!(benchmark.samples.iter().all(|sample| sample.is_finite() && *sample > 0.0), "{}", benchmark.id());
    }
    assert_eq!(left, 0, "allocations are left");
}

#[test]
fn no_two_benchmarks_have_one_id() {
    let (report, ..) = measured("h200-x2", SUITES, Effort { quick: false, ..LITTLE });
    let mut ids: Vec<String> = report.benchmarks.iter().map(peermap_report::bench::Benchmark::id).collect();
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

#[test]
fn what_a_machine_lacks_is_skipped_with_its_reason() {
    let (report, seen, _) = measured("no-peer", SUITES, LITTLE);
    let reason = |part: &str| report.skipped.iter().find(|skipped| skipped.id.contains(part)).map(|one| &*one.reason);
    assert_eq!(reason("copy_both_ways"), Some("devices 0 and 1 do not reach each other"));
    assert_eq!(reason("vmm_for_one_peer"), Some("no other device reaches the first one"));
    assert_eq!(reason("memmap_ipc"), Some("nobody starts processes here"));
    assert_eq!(reason("ring_events"), Some("nobody starts processes here"));
    let planned = seen.iter().find_map(|progress| match progress {
        Progress::Planned(groups) => Some(*groups),
        _ => None,
    });
    let ended = seen.iter().filter(|progress| matches!(progress, Progress::Ended(_) | Progress::Skipped(_))).count();
    assert_eq!(planned, Some(ended));
}

#[test]
fn a_group_ends_when_the_interval_is_narrow_or_the_time_is_up() {
    let transport: Vec<&dyn Suite> = SUITES.iter().copied().filter(|suite| suite.name() == "transport").collect();
    let patient = Effort { least: 8, most: 100_000, width: 1e9, time: Duration::from_secs(60), ..LITTLE };
    let (report, ..) = measured("default", &transport, patient);
    assert!(report.benchmarks.iter().all(|benchmark| benchmark.samples.len() == 8), "certain at once");
    let hasty = Effort { width: 0.0, time: Duration::from_millis(5), ..patient };
    let (report, ..) = measured("default", &transport, hasty);
    assert!(report.benchmarks.iter().all(|benchmark| benchmark.samples.len() < 100_000), "the time ends it");
}

#[test]
fn work_that_takes_longer_than_its_time_gets_fewer_samples() {
    let late = Effort { least: 100, least_late: 4, most: 200, width: 0.0, time: Duration::ZERO, ..LITTLE };
    let (report, ..) = measured("default", &[&Floored], late);
    assert_eq!(report.benchmarks[0].samples.len(), 4);
}

#[test]
fn as_many_samples_as_were_asked_for_are_taken() {
    let transport: Vec<&dyn Suite> = SUITES.iter().copied().filter(|suite| suite.name() == "transport").collect();
    let hasty = Effort { time: Duration::ZERO, width: 1e9, ..LITTLE };
    let (report, ..) = measured("default", &transport, hasty.with_exactly(37));
    assert!(report.benchmarks.iter().all(|benchmark| benchmark.samples.len() == 37));
}

/// Names of shared memory are of the whole system: two machines of one process must not want the same one.
#[test]
fn suites_that_run_side_by_side_do_not_get_in_each_others_way() {
    let transport: Vec<&dyn Suite> = SUITES.iter().copied().filter(|suite| suite.name() == "transport").collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| measured("default", &transport, LITTLE.with_exactly(20)));
        }
    });
}

/// Two outputs, the second with a floor of nine tenths of the first.
struct Floored;

struct Twice;

impl peermap_bench::Group for Twice {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        Ok(vec![100.0, 80.0])
    }
}

impl Suite for Floored {
    fn name(&self) -> &'static str {
        "floored"
    }

    fn plan<'r>(&self, _: &'r Rig<'_>) -> Vec<peermap_bench::Planned<'r>> {
        use peermap_bench::{Output, Planned};
        vec![Planned {
            outputs: vec![Output::rate("memset"), Output::rate("fill").at_least(0.9, "memset")],
            parameters: Vec::new(),
            make: Box::new(|| Ok(Box::new(Twice))),
        }]
    }
}

/// One group that fails, and one that does not.
struct HalfBroken;

impl Suite for HalfBroken {
    fn name(&self) -> &'static str {
        "half"
    }

    fn plan<'r>(&self, _: &'r Rig<'_>) -> Vec<peermap_bench::Planned<'r>> {
        use peermap_bench::{Output, Planned};
        let broken = Planned {
            outputs: vec![Output::rate("broken")],
            parameters: Vec::new(),
            make: Box::new(|| Err(BenchError::Run("it broke".to_owned()))),
        };
        let whole = Planned {
            outputs: vec![Output::rate("one"), Output::rate("two")],
            parameters: Vec::new(),
            make: Box::new(|| Ok(Box::new(Twice))),
        };
        vec![broken, whole]
    }
}

#[test]
fn a_group_that_fails_leaves_the_others_their_samples() {
    let process = SimMachine::named("h200-x2").unwrap().process().unwrap();
    let mut report = BenchReport::new("sim", "2026-01-31T12:00:00Z");
    let rig = Rig::new(&process, &Alone, LITTLE, true).unwrap();
    let outcome = measure(&[&HalfBroken], "", &rig, &mut report, &mut |_| {});
    assert_eq!(outcome.unwrap_err().to_string(), "half/broken: the run failed: it broke");
    assert_eq!(report.benchmarks.len(), 2);
    assert_eq!(
        (&*report.skipped[0].id, &*report.skipped[0].reason),
        ("half/broken", "it failed: the run failed: it broke")
    );
}

#[test]
fn a_floor_is_a_part_of_another_median_of_the_same_group() {
    let (report, ..) = measured("default", &[&Floored], LITTLE);
    let [memset, fill] = &report.benchmarks[..] else { panic!("{:?}", report.benchmarks) };
    assert_eq!((memset.unit, &memset.floor), (Unit::GigabytesPerSecond, &None));
    let floor = fill.floor.as_ref().unwrap();
    assert_eq!((floor.value, &*floor.source), (90.0, "90 % of memset in the same run"));
}
