//! The ratio of samples that were taken in pairs, with its interval.

use super::ratio::{outside, outside_normal, positive};
use super::summary::{Interval, SampleError};

/// Up to so many pairs the chances are counted, above they are taken from the normal distribution.
const EXACT: usize = 50;

/// Ratios of samples that were taken in pairs, all above 0.
///
/// What both samples of a pair share, such as a clock that sinks while pair after pair is taken, is in neither of these ratios. It
/// is in the ratios of samples of different pairs, which [`Pairs`](super::ratio::Pairs) takes.
pub(super) struct PairRatios {
    pairs: usize,
    /// The geometric mean of each two ratios, and each ratio itself, in ascending order.
    means: Vec<f64>,
}

impl PairRatios {
    /// The ratio above/below of each pair. Of two lists of different lengths the longer one's last samples have no partner, and do
    /// not count.
    pub(super) fn new(below: &[f64], above: &[f64]) -> Result<Self, SampleError> {
        positive(below)?;
        positive(above)?;
        let ratios: Vec<f64> = below.iter().zip(above).map(|(below, above)| above / below).collect();
        let means = ratios.iter().enumerate();
        let means = means.flat_map(|(index, one)| ratios[index..].iter().map(move |two| (one * two).sqrt()));
        let mut means: Vec<f64> = means.collect();
        means.sort_unstable_by(f64::total_cmp);
        Ok(Self { pairs: ratios.len(), means })
    }

    /// The median of the means, which is the estimate of Hodges and Lehmann for one set.
    pub(super) fn ratio(&self) -> f64 {
        let last = self.means.len() - 1;
        (self.means[last / 2] * self.means[last.div_ceil(2)]).sqrt()
    }

    /// The interval that belongs to Wilcoxon's test of signed ranks. `None`: the pairs are too few for one, which six are not.
    pub(super) fn interval(&self) -> Option<Interval> {
        let rank = self.rank()?;
        Some(Interval { low: self.means[rank], high: self.means[self.means.len() - 1 - rank] })
    }

    /// The lowest and the highest ratio.
    pub(super) fn range(&self) -> Interval {
        Interval { low: self.means[0], high: self.means[self.means.len() - 1] }
    }

    /// How many means at each end lie outside the interval.
    fn rank(&self) -> Option<usize> {
        if self.pairs <= EXACT {
            return rank_by_counting(self.pairs);
        }
        let (pairs, values) = (self.pairs as f64, self.means.len() as f64);
        outside_normal(values, (values * (2.0 * pairs + 1.0) / 12.0).sqrt())
    }
}

/// The rank from the distribution of Wilcoxon's statistic, where no two ratios are as far from 1.
fn rank_by_counting(pairs: usize) -> Option<usize> {
    // The statistic is the sum of the ranks of those ratios that are above 1: how many choices of ranks have each sum.
    let mut choices = vec![0.0; pairs * (pairs + 1) / 2 + 1];
    choices[0] = 1.0;
    for rank in 1..=pairs {
        for sum in (rank..choices.len()).rev() {
            choices[sum] += choices[sum - rank];
        }
    }
    outside(&choices)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratios(below: &[f64], above: &[f64]) -> PairRatios {
        PairRatios::new(below, above).unwrap()
    }

    #[test]
    fn ranks_are_those_of_the_tables() {
        // The critical values of the two-sided test at 5 %, as printed.
        for (pairs, rank) in [(5, None), (6, Some(0)), (7, Some(2)), (8, Some(3)), (10, Some(8)), (20, Some(52))] {
            assert_eq!(rank_by_counting(pairs), rank, "{pairs} pairs");
        }
    }

    #[test]
    fn the_normal_distribution_goes_on_where_counting_ends() {
        let pairs = EXACT + 1;
        let normal = ratios(&vec![1.0; pairs], &vec![1.0; pairs]).rank().unwrap();
        let counted = rank_by_counting(pairs).unwrap();
        assert!(normal.abs_diff(counted) <= 2, "{normal}, {counted}");
    }

    #[test]
    fn what_both_of_a_pair_share_is_in_no_ratio() {
        let drift = [1.0, 1.3, 1.7, 2.2, 2.9, 3.7];
        let paired = ratios(&drift, &drift.map(|sample| sample * 1.1));
        assert!((paired.ratio() - 1.1).abs() < 1e-12, "{}", paired.ratio());
        let Interval { low, high } = paired.interval().unwrap();
        assert!(high - low < 1e-12, "{low} to {high}");
    }

    #[test]
    fn exchanging_the_two_inverts_the_ratio() {
        let (one, two) = ([3.0, 1.5, 2.0, 7.1, 5.5, 4.0], [4.0, 0.3, 2.0, 5.0, 6.0, 8.0]);
        let (there, back) = (ratios(&one, &two), ratios(&two, &one));
        assert!((there.ratio() * back.ratio() - 1.0).abs() < 1e-12);
        let (interval, inverse) = (there.interval().unwrap(), back.interval().unwrap());
        assert!((interval.low * inverse.high - 1.0).abs() < 1e-12, "{interval:?}, {inverse:?}");
    }

    #[test]
    fn what_has_no_partner_does_not_count() {
        assert_eq!(ratios(&[1.0, 2.0], &[2.0, 4.0, 900.0]).range(), Interval { low: 2.0, high: 2.0 });
        assert_eq!(PairRatios::new(&[], &[1.0]).err(), Some(SampleError::Empty));
    }
}
