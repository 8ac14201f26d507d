//! A benchmark's samples in a few numbers.

use serde::{Deserialize, Serialize};

/// How sure the intervals are: in at least this share of runs the interval holds what would come out of endless samples.
pub const CONFIDENCE: f64 = 0.95;

/// How many standard deviations of a normal distribution lie on each side of that share.
pub(super) const DEVIATIONS: f64 = 1.959_964;

/// Above so many samples the binomial distribution is taken for a normal one, since its terms would be too small to add.
const EXACT: usize = 1000;

/// The lowest and the highest value that something may have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
}

/// What is wrong with samples.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum SampleError {
    /// There is none.
    #[error("there is no sample")]
    Empty,
    /// One is no number, or infinite.
    #[error("sample {index} is {value}")]
    NotFinite {
        /// Which, from 0.
        index: usize,
        /// What it is.
        value: f64,
    },
    /// One is not above zero, and so gives no ratio.
    #[error("sample {index} is {value}, and a ratio needs one above 0")]
    NotPositive {
        /// Which, from 0.
        index: usize,
        /// What it is.
        value: f64,
    },
}

/// Samples in a few numbers, each in the unit of the samples.
///
/// The interval of the median lies between two of the samples themselves: how many of them lie below the true median is a
/// matter of tossing coins, whatever their distribution is. A bootstrap would need a seed, and with few samples it promises
/// more than it holds.
///
/// Samples are taken to be independent. A runner that looks after each sample whether to stop makes the interval hold a little
/// less often.
///
/// ```
/// use peermap_report::bench::Summary;
///
/// let summary = Summary::new(&[10.2, 10.1, 10.0, 10.3, 10.2, 10.1, 19.0]).unwrap();
/// assert_eq!(summary.median, 10.2);
/// assert_eq!(summary.outliers, 1);
/// assert!(summary.relative_width() > 0.5, "of seven samples the highest may still be the median");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many samples there are.
    pub count: usize,
    /// The median.
    pub median: f64,
    /// Where the median of endless samples lies. `None`: fewer than six samples cannot say.
    pub interval: Option<Interval>,
    /// How sure the interval is, at least: [`CONFIDENCE`].
    pub confidence: f64,
    /// How many samples lie further outside the middle half than 1.5 times its width (Tukey's fences).
    pub outliers: usize,
    /// The lowest sample.
    pub min: f64,
    /// The highest sample.
    pub max: f64,
}

impl Summary {
    /// The summary of samples in any order.
    ///
    /// # Errors
    /// [`SampleError`]: there is none, or one is no finite number.
    pub fn new(samples: &[f64]) -> Result<Self, SampleError> {
        let sorted = sorted(samples)?;
        let count = sorted.len();
        let (first, third) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
        let fence = 1.5 * (third - first);
        let inside = (first - fence)..=(third + fence);
        let rank = median_rank(count);
        Ok(Self {
            count,
            median: quantile(&sorted, 0.5),
            interval: rank.map(|rank| Interval { low: sorted[rank], high: sorted[count - 1 - rank] }),
            confidence: CONFIDENCE,
            outliers: sorted.iter().filter(|sample| !inside.contains(sample)).count(),
            min: sorted[0],
            max: sorted[count - 1],
        })
    }

    /// The width of the interval as a share of the median, for a rule when to stop: `relative_width() <= 0.02` is never true
    /// while the samples are too few to say, because the width is infinite then.
    #[must_use]
    pub fn relative_width(&self) -> f64 {
        match self.interval {
            None => f64::INFINITY,
            Some(Interval { low, high }) if low == high => 0.0,
            Some(Interval { low, high }) => (high - low) / self.median.abs(),
        }
    }
}

/// The samples in ascending order.
pub(super) fn sorted(samples: &[f64]) -> Result<Vec<f64>, SampleError> {
    if samples.is_empty() {
        return Err(SampleError::Empty);
    }
    if let Some((index, value)) = samples.iter().copied().enumerate().find(|(_, value)| !value.is_finite()) {
        return Err(SampleError::NotFinite { index, value });
    }
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Ok(sorted)
}

/// The value below which a share of the samples lies, on the straight line between its two neighbours.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

/// How many samples at each end lie outside the interval of the median. `None`: even the outermost two hold it too rarely.
fn median_rank(count: usize) -> Option<usize> {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let trials = count as f64;
    if count > EXACT {
        return Some(((trials + 1.0 - DEVIATIONS * trials.sqrt()) / 2.0) as usize - 1);
    }
    // The chance that at most `below` of the samples lie below the median; the interval may leave out as many.
    let mut chance = 0.5_f64.powi(count as i32);
    let mut total = chance;
    let mut below = 0_usize;
    while total <= tail {
        chance *= (trials - below as f64) / (below as f64 + 1.0);
        total += chance;
        below += 1;
    }
    below.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up_to(count: usize) -> Vec<f64> {
        (1..=count).rev().map(|value| value as f64).collect()
    }

    #[test]
    fn few_samples_have_a_median_and_no_interval() {
        for (count, median) in [(1, 1.0), (2, 1.5), (5, 3.0)] {
            let summary = Summary::new(&up_to(count)).unwrap();
            assert_eq!((summary.count, summary.median, summary.interval), (count, median, None));
            assert_eq!((summary.min, summary.max, summary.outliers), (1.0, count as f64, 0));
            assert_eq!(summary.relative_width(), f64::INFINITY);
        }
    }

    #[test]
    fn the_interval_leaves_out_as_many_samples_as_the_tables_say() {
        // The ranks of the 95 % interval of the median, as printed in tables of order statistics.
        for (count, low, high) in [(6, 1, 6), (9, 2, 8), (12, 3, 10), (30, 10, 21), (100, 40, 61), (1000, 469, 532)] {
            let interval = Summary::new(&up_to(count)).unwrap().interval.unwrap();
            assert_eq!(interval, Interval { low: f64::from(low), high: f64::from(high) }, "{count} samples");
        }
    }

    #[test]
    fn many_samples_go_on_where_the_exact_ranks_end() {
        let (exact, normal) = (median_rank(EXACT).unwrap(), median_rank(EXACT + 1).unwrap());
        assert!((exact..=exact + 1).contains(&normal), "{exact}, {normal}");
    }

    #[test]
    fn constant_samples_have_no_width() {
        let summary = Summary::new(&[7.0; 20]).unwrap();
        assert_eq!(summary.interval, Some(Interval { low: 7.0, high: 7.0 }));
        assert_eq!((summary.relative_width(), summary.outliers), (0.0, 0));
        assert_eq!(Summary::new(&[0.0; 20]).unwrap().relative_width(), 0.0);
    }

    #[test]
    fn samples_far_from_the_middle_half_are_outliers() {
        let mut samples = up_to(11);
        samples.extend([100.0, -100.0]);
        assert_eq!(Summary::new(&samples).unwrap().outliers, 2);
    }

    #[test]
    fn what_is_no_number_is_refused() {
        assert_eq!(Summary::new(&[]), Err(SampleError::Empty));
        let error = Summary::new(&[1.0, f64::NAN]).unwrap_err().to_string();
        assert_eq!(error, "sample 1 is NaN");
        let infinite = Err(SampleError::NotFinite { index: 0, value: f64::INFINITY });
        assert_eq!(Summary::new(&[f64::INFINITY]), infinite);
    }
}
