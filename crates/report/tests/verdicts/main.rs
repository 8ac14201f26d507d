//! How often verdicts are right, on samples whose truth is known.

mod noise;

use noise::{KINDS, Noise, Random};
use peermap_report::bench::{Change, Threshold, Unit, Verdict};

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
