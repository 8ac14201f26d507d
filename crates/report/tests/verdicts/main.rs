//! How often verdicts are right, on samples whose truth is known.

mod noise;
mod pairs;

use noise::{KINDS, Noise, Random};
use peermap_report::bench::{BenchReport, Benchmark, Change, Comparison, ComparisonOptions, Threshold, Unit, Verdict};

/// How often each case is tried. With 1,000 the figures do not hang on the seed.
const TRIES: usize = 1000;

/// How many verdicts of each kind there were.
#[derive(Debug, Default)]
struct Counts {
    slower: usize,
    faster: usize,
    same: usize,
    ambiguous: usize,
    /// How often the interval held the truth.
    held: usize,
}

/// Judges new samples that are `truth` times as slow, again and again.
fn judge(noise: &Noise, samples: usize, truth: f64) -> Counts {
    let mut random = Random(20_260_131);
    // The noise is a factor, so that no sample falls below 0.
    let mut draw =
        |median: f64| -> Vec<f64> { (0..samples).map(|_| median * (noise.draw)(&mut random).exp()).collect() };
    let mut counts = Counts::default();
    for _ in 0..TRIES {
        let (base, new) = (draw(1e4), draw(1e4 * truth));
        let change = Change::between(&base, &new, Unit::Nanoseconds, Threshold::default()).unwrap();
        *match change.verdict {
            Verdict::Slower => &mut counts.slower,
            Verdict::Faster => &mut counts.faster,
            Verdict::Same => &mut counts.same,
            Verdict::Ambiguous => &mut counts.ambiguous,
        } += 1;
        let interval = change.interval.unwrap();
        counts.held += usize::from(interval.low <= truth && truth <= interval.high);
    }
    println!("{}, {samples} samples, truth {truth:.3}: {counts:?}", noise.name);
    // 95 % of the tries, less three deviations of their count.
    assert!(counts.held >= TRIES * 93 / 100, "{}: {counts:?}", noise.name);
    counts
}

#[test]
fn what_did_not_change_is_the_same_or_ambiguous() {
    for noise in KINDS {
        let few = judge(noise, 5, 1.0);
        assert!(few.same + few.ambiguous >= TRIES * 95 / 100, "{}: {few:?}", noise.name);
        let many = judge(noise, 30, 1.0);
        assert!(many.same + many.ambiguous >= TRIES * 95 / 100, "{}: {many:?}", noise.name);
        assert!(many.same >= TRIES * 80 / 100, "{}: {many:?}", noise.name);
    }
}

#[test]
fn a_tenth_slower_is_slower_at_a_threshold_of_a_twentieth_and_never_faster() {
    for noise in KINDS {
        let counts = judge(noise, 30, 1.1);
        assert!(counts.slower >= TRIES * 90 / 100, "{}: {counts:?}", noise.name);
        assert_eq!(counts.faster, 0, "{}", noise.name);
    }
}

#[test]
fn a_tenth_faster_is_faster_and_never_slower() {
    for noise in KINDS {
        let counts = judge(noise, 30, 1.0 / 1.1);
        assert!(counts.faster >= TRIES * 90 / 100, "{}: {counts:?}", noise.name);
        assert_eq!(counts.slower, 0, "{}", noise.name);
    }
}

#[test]
fn what_lies_at_the_threshold_is_rarely_called_slower() {
    for noise in KINDS {
        let counts = judge(noise, 30, 1.05);
        // Half of the 5 % in which the interval does not hold the truth, and three deviations of their count.
        assert!(counts.slower <= TRIES * 4 / 100, "{}: {counts:?}", noise.name);
    }
}

/// A run of a hundred benchmarks, 30 samples of each with a deviation of 2 %. All samples of one share what the run gave it, 3 %.
fn run(random: &mut Random, truth: f64) -> BenchReport {
    let mut report = BenchReport::new("sim", "2026-01-31T12:00:00Z");
    for number in 0..100 {
        let shared = 1e4 * truth * (0.03 * random.normal()).exp();
        let samples = (0..30).map(|_| shared * (0.02 * random.normal()).exp()).collect();
        let (suite, name, unit) = ("control".to_owned(), number.to_string(), Unit::Nanoseconds);
        report.benchmarks.push(Benchmark {
            suite,
            name,
            parameters: [].into(),
            unit,
            samples,
            floor: None,
            peak: None,
        });
    }
    report
}

/// Compares as many runs with as many others that are `truth` times as slow, ten times.
fn compare_runs(count: usize, truth: f64) -> (usize, usize) {
    let mut random = Random(20_260_131);
    let comparisons = (0..10).map(|_| {
        let (base, new): (Vec<_>, Vec<_>) =
            (0..count).map(|_| (run(&mut random, 1.0), run(&mut random, truth))).unzip();
        Comparison::of_runs(&base, &new, ComparisonOptions::default()).unwrap().counts
    });
    comparisons.fold((0, 0), |(slower, faster), counts| (slower + counts.slower, faster + counts.faster))
}

#[test]
fn what_differs_between_runs_deceives_one_run_on_each_side_but_not_several() {
    let (slower, faster) = compare_runs(1, 1.0);
    assert!(slower + faster > TRIES * 10 / 100, "{slower} and {faster}: single runs need no caution");
    let (slower, faster) = compare_runs(8, 1.0);
    assert!(slower + faster <= TRIES * 5 / 100, "{slower}, {faster}");
    let (slower, faster) = compare_runs(8, 1.15);
    assert!(slower >= TRIES * 90 / 100 && faster == 0, "{slower}, {faster}");
    println!("8 runs, 15 % slower: {slower} slower, {faster} faster");
}
