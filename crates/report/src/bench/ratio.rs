//! The ratio of two sets of samples, with its interval.

use super::summary::{CONFIDENCE, DEVIATIONS, Interval, SampleError, sorted};

/// Up to so many samples on each side the chances are counted, above they are taken from the normal distribution.
const EXACT: usize = 20;

/// Two sets of samples in ascending order, all above 0.
pub(super) struct Pairs {
    below: Vec<f64>,
    above: Vec<f64>,
}

impl Pairs {
    /// Pairs of each sample of `above` with each of `below`, for the ratio above/below.
    pub(super) fn new(below: &[f64], above: &[f64]) -> Result<Self, SampleError> {
        Ok(Self { below: positive(below)?, above: positive(above)? })
    }

    /// The median of the ratios of all pairs, which is the estimate of Hodges and Lehmann.
    pub(super) fn ratio(&self) -> f64 {
        let last = self.count() - 1;
        // The mean of the middle two is the geometric one, so that exchanging the two sets inverts the ratio. Their product
        // may be more than a number holds.
        let (low, high) = (self.ranked(last / 2), self.ranked(last.div_ceil(2)));
        low * (high / low).sqrt()
    }

    /// The interval that belongs to the test of Mann and Whitney. `None`: the samples are too few for one.
    pub(super) fn interval(&self) -> Option<Interval> {
        let rank = self.rank()?;
        Some(Interval { low: self.ranked(rank), high: self.ranked(self.count() - 1 - rank) })
    }

    /// The lowest and the highest ratio of all pairs.
    pub(super) fn range(&self) -> Interval {
        Interval { low: self.lowest(), high: self.highest() }
    }

    fn lowest(&self) -> f64 {
        self.above[0] / self.below[self.below.len() - 1]
    }

    fn highest(&self) -> f64 {
        self.above[self.above.len() - 1] / self.below[0]
    }

    fn count(&self) -> usize {
        self.below.len() * self.above.len()
    }

    /// How many ratios at each end lie outside the interval.
    fn rank(&self) -> Option<usize> {
        let (one, two) = (self.below.len(), self.above.len());
        if one <= EXACT && two <= EXACT {
            return rank_by_counting(one, two);
        }
        let pairs = self.count() as f64;
        let deviation = (pairs * (one + two + 1) as f64 / 12.0).sqrt();
        outside_normal(pairs, deviation)
    }

    /// The ratio that `rank` of all ratios lie below.
    ///
    /// It is found by halving the range of all numbers, and not by sorting the ratios: of two times ten thousand samples they
    /// would take a gigabyte.
    fn ranked(&self, rank: usize) -> f64 {
        // Positive numbers are in the order of their bits.
        let (mut low, mut high) = (self.lowest().to_bits(), self.highest().to_bits());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.at_most(f64::from_bits(middle)) > rank {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        f64::from_bits(low)
    }

    /// How many ratios are at most this one.
    fn at_most(&self, ratio: f64) -> usize {
        let mut until = 0;
        let counts = self.below.iter().map(|below| {
            // The larger the one below, the more of those above give a ratio that is small enough.
            until += self.above[until..].iter().take_while(|above| **above / below <= ratio).count();
            until
        });
        counts.sum()
    }
}

/// The samples in ascending order, if a ratio can be made of each.
pub(super) fn positive(samples: &[f64]) -> Result<Vec<f64>, SampleError> {
    let sorted = sorted(samples)?;
    match samples.iter().copied().enumerate().find(|(_, value)| *value <= 0.0) {
        Some((index, value)) => Err(SampleError::NotPositive { index, value }),
        None => Ok(sorted),
    }
}

/// The rank from the distribution of Mann and Whitney's statistic, where no two samples are equal.
fn rank_by_counting(one: usize, two: usize) -> Option<usize> {
    // How many of the orders that the samples can be in have each value of the statistic: the coefficients of the Gaussian
    // binomial, factor by factor.
    let mut orders = vec![0.0; one * two + 1];
    orders[0] = 1.0;
    for factor in 1..=one {
        for value in (two + factor..orders.len()).rev() {
            orders[value] -= orders[value - two - factor];
        }
        for value in factor..orders.len() {
            orders[value] += orders[value - factor];
        }
    }
    outside(&orders)
}

/// How many ratios at each end lie outside the interval, from how many of all cases have each value of the statistic. `None`: even
/// the lowest value is too likely.
pub(super) fn outside(cases: &[f64]) -> Option<usize> {
    let all: f64 = cases.iter().sum();
    let tail = (1.0 - CONFIDENCE) / 2.0 * all;
    let mut total = 0.0;
    let unlikely = cases.iter().take_while(|count| {
        total += **count;
        total <= tail
    });
    unlikely.count().checked_sub(1)
}

/// The same for a statistic with so many values up to its highest, of this deviation, that it is as good as normal.
pub(super) fn outside_normal(values: f64, deviation: f64) -> Option<usize> {
    // Half a rank more: the test takes whole values, the normal distribution all.
    let rank = values / 2.0 + 0.5 - DEVIATIONS * deviation;
    (rank >= 1.0).then(|| rank as usize - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(below: &[f64], above: &[f64]) -> Pairs {
        Pairs::new(below, above).unwrap()
    }

    #[test]
    fn ranked_ratios_are_those_of_a_sorted_list() {
        let (below, above) = ([3.0, 1.5, 2.0, 2.0, 7.1], [4.0, 0.3, 2.0, 1e9]);
        let mut all: Vec<f64> = below.iter().flat_map(|below| above.map(|above| above / below)).collect();
        all.sort_by(f64::total_cmp);
        let pairs = pairs(&below, &above);
        let ranked: Vec<f64> = (0..20).map(|rank| pairs.ranked(rank)).collect();
        assert_eq!(ranked, all);
        assert_eq!(pairs.range(), Interval { low: all[0], high: all[19] });
    }

    #[test]
    fn exchanging_the_two_inverts_the_ratio() {
        let (one, two) = ([3.0, 1.5, 2.0, 7.1], [4.0, 0.3, 2.0, 5.0, 6.0, 8.0]);
        let (ratio, inverse) = (pairs(&one, &two).ratio(), pairs(&two, &one).ratio());
        assert!((ratio * inverse - 1.0).abs() < 1e-12, "{ratio}, {inverse}");
    }

    #[test]
    fn ranks_are_those_of_the_tables() {
        // The critical values of the two-sided test at 5 %, as printed.
        let cases = [(3, 5, Some(0)), (4, 4, Some(0)), (5, 5, Some(2)), (8, 8, Some(13)), (20, 20, Some(127))];
        for (one, two, rank) in cases {
            assert_eq!(rank_by_counting(one, two), rank, "{one} and {two} samples");
        }
        assert_eq!(rank_by_counting(3, 4), None);
        assert_eq!(rank_by_counting(1, 20), None);
    }

    #[test]
    fn the_normal_distribution_goes_on_where_counting_ends() {
        let constant = |count| vec![1.0; count];
        let normal = pairs(&constant(20), &constant(21)).rank().unwrap();
        let counted = rank_by_counting(20, 21).unwrap();
        assert!(normal.abs_diff(counted) <= 1, "{normal}, {counted}");
        assert_eq!(pairs(&[1.0], &constant(30)).rank(), None);
    }

    #[test]
    fn what_gives_no_ratio_is_refused() {
        let error = Pairs::new(&[1.0], &[1.0, 0.0]).err().unwrap().to_string();
        assert_eq!(error, "sample 1 is 0, and a ratio needs one above 0");
        assert_eq!(Pairs::new(&[], &[1.0]).err(), Some(SampleError::Empty));
    }
}
