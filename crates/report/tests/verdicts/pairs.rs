//! How often verdicts on pairs of runs are right, on a machine that gets slower and slower.

use peermap_report::bench::{Change, Threshold, Unit, Verdict};

use crate::TRIES;
use crate::noise::{KINDS, Noise, Random};

/// How many pairs there are, if nobody asks for more.
const PAIRS: usize = 8;

/// How much slower the machine is for each pair than for the one before it.
const DRIFT: f64 = 0.1;

/// How many verdicts of some kinds there were.
#[derive(Debug, Default)]
struct Counts {
    slower: usize,
    faster: usize,
    /// How often the interval held the truth.
    held: usize,
}

/// Judges pairs of medians whose second is `truth` times as slow, again and again.
fn judge(noise: &Noise, judged: Judge, truth: f64) -> Counts {
    let mut random = Random(20_260_131);
    let mut counts = Counts::default();
    for _ in 0..TRIES {
        let pairs = (0..PAIRS).map(|pair| {
            let shared = 1e4 * (DRIFT * pair as f64).exp();
            let mut draw = |median: f64| median * (noise.draw)(&mut random).exp();
            (draw(shared), draw(shared * truth))
        });
        let (base, new): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let change = judged(&base, &new, Unit::Nanoseconds, Threshold::default()).unwrap();
        counts.slower += usize::from(change.verdict == Verdict::Slower);
        counts.faster += usize::from(change.verdict == Verdict::Faster);
        let interval = change.interval.unwrap();
        counts.held += usize::from(interval.low <= truth && truth <= interval.high);
    }
    println!("{}, {PAIRS} pairs, truth {truth:.3}: {counts:?}", noise.name);
    counts
}

type Judge = fn(&[f64], &[f64], Unit, Threshold) -> Result<Change, peermap_report::bench::SampleError>;

#[test]
fn what_did_not_change_is_hardly_ever_called_a_change() {
    for noise in KINDS {
        let counts = judge(noise, Change::of_pairs, 1.0);
        assert!(counts.slower + counts.faster <= TRIES * 5 / 100, "{}: {counts:?}", noise.name);
        // 95 % of the tries, less three deviations of their count.
        assert!(counts.held >= TRIES * 93 / 100, "{}: {counts:?}", noise.name);
    }
}

#[test]
fn a_tenth_slower_is_seen_through_a_drift_that_hides_it_from_runs_that_are_no_pairs() {
    let quiet = &KINDS[0];
    assert!(judge(quiet, Change::of_pairs, 1.1).slower >= TRIES * 95 / 100);
    assert_eq!(judge(quiet, Change::between, 1.1).slower, 0);
    for noise in KINDS {
        assert_eq!(judge(noise, Change::of_pairs, 1.1).faster, 0, "{}", noise.name);
    }
}

#[test]
fn a_fifth_slower_is_slower_whatever_the_noise() {
    for noise in KINDS {
        let counts = judge(noise, Change::of_pairs, 1.2);
        assert!(counts.slower >= TRIES * 90 / 100, "{}: {counts:?}", noise.name);
    }
}
