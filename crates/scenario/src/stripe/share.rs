//! Who adds what.

use std::ops::Range;

/// Shares end at whole pieces of so many words: 4 KiB.
const GRAIN: u64 = 512;
/// How many pieces each worker would take from the counter if all were as quick.
const PIECES_EACH: u64 = 16;

/// The words of each worker, as many as its weight says of all.
pub(super) fn shares(weights: &[f64], words: u64) -> Vec<Range<u64>> {
    let all: f64 = weights.iter().sum();
    let mut upto = 0.0;
    let mut first = 0;
    let mut shares = Vec::with_capacity(weights.len());
    for (number, weight) in (1..).zip(weights) {
        upto += weight;
        let end = if number == weights.len() { words } else { round((upto / all * words as f64) as u64).min(words) };
        shares.push(first..end.max(first));
        first = end.max(first);
    }
    shares
}

/// The same for all.
pub(super) fn even(workers: u32, words: u64) -> Vec<Range<u64>> {
    shares(&vec![1.0; workers as usize], words)
}

/// The words of a piece from the counter.
pub(super) fn piece(number: u32, workers: u32, words: u64) -> Range<u64> {
    let each = round(words / (u64::from(workers) * PIECES_EACH)).max(GRAIN);
    let first = (u64::from(number) * each).min(words);
    first..(first + each).min(words)
}

/// What a device can, beside the best of all: its multiprocessors and clock allow so much, its bandwidth so much.
pub(super) fn weights(devices: &[(f64, f64)]) -> Vec<f64> {
    let most = |of: fn(&(f64, f64)) -> f64| devices.iter().map(of).fold(f64::MIN_POSITIVE, f64::max);
    let (computes, moves) = (most(|device| device.0), most(|device| device.1));
    devices.iter().map(|device| (device.0 / computes).min(device.1 / moves).max(f64::MIN_POSITIVE)).collect()
}

const fn round(words: u64) -> u64 {
    words / GRAIN * GRAIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_the_weights_and_cover_everything_once() {
        assert_eq!(shares(&[1.0, 1.0], 1 << 20), [0..1 << 19, 1 << 19..1 << 20]);
        assert_eq!(shares(&[3.0, 1.0], 1 << 20), [0..786_432, 786_432..1 << 20]);
        for weights in [vec![1.0], vec![0.3, 1e-300, 0.7], vec![5.0, 1.0, 1.0, 9.0]] {
            let shares = shares(&weights, 100_003);
            assert_eq!((shares[0].start, shares[shares.len() - 1].end), (0, 100_003), "{weights:?}");
            assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start), "{weights:?}");
        }
    }

    #[test]
    fn pieces_cover_everything_once() {
        for (workers, words) in [(1, 1 << 20), (3, 100_003), (8, 600)] {
            let pieces: Vec<_> =
                (0..).map(|number| piece(number, workers, words)).take_while(|it| !it.is_empty()).collect();
            assert_eq!((pieces[0].start, pieces[pieces.len() - 1].end), (0, words));
            assert!(pieces.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }

    #[test]
    fn the_narrower_of_two_limits_counts() {
        assert_eq!(weights(&[(100.0, 4.0), (50.0, 4.0), (100.0, 1.0)]), [1.0, 0.5, 0.25]);
    }
}
