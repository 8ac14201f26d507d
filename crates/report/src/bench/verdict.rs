//! Whether something became slower.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::paired::PairRatios;
use super::ratio::Pairs;
use super::summary::{Interval, SampleError};
use super::unit::{Better, Unit};

/// What two sets of samples say about each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// The new one is slower by more than the threshold.
    Slower,
    /// Nothing can be said: the samples are too few, or vary too much.
    Ambiguous,
    /// The new one is faster by more than the threshold.
    Faster,
    /// Both are the same within the threshold.
    Same,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Slower => "SLOWER",
            Self::Ambiguous => "AMBIGUOUS",
            Self::Faster => "FASTER",
            Self::Same => "SAME",
        })
    }
}

/// The smallest change that matters, as a share: 0.05 is 5 %.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Threshold(f64);

impl Threshold {
    /// A threshold of a share from 0 up to, but without, 1.
    #[must_use]
    pub fn new(share: f64) -> Option<Self> {
        (0.0..1.0).contains(&share).then_some(Self(share))
    }

    /// The share.
    #[must_use]
    pub const fn share(self) -> f64 {
        self.0
    }

    /// The ratios that count as the same. Exchanging the two sides inverts a ratio, and so the lower end is the inverse of the
    /// higher one: what is slower one way is faster the other way.
    #[must_use]
    pub fn band(self) -> Interval {
        Interval { low: 1.0 / (1.0 + self.0), high: 1.0 + self.0 }
    }
}

impl Default for Threshold {
    /// 5 %, which is more than most runs on the same machine differ by.
    fn default() -> Self {
        Self(0.05)
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Two digits after the point, none of them a trailing zero.
        write!(f, "{} %", (self.0 * 1e4).round() / 1e2)
    }
}

/// Why a text is no threshold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no threshold: it takes a share from 0 up to 1, such as 5% or 0.05")]
pub struct ThresholdError(String);

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.trim_end().parse().ok();
        let share: Option<f64> = match text.strip_suffix('%') {
            Some(percent) => number(percent).map(|percent: f64| percent / 100.0),
            None => number(text),
        };
        share.and_then(Self::new).ok_or_else(|| ThresholdError(text.to_owned()))
    }
}

/// How a benchmark changed.
///
/// The ratio is the median of the ratios of every new sample to every base one (Hodges and Lehmann), and its interval is the
/// one of Mann and Whitney's test. Both use the order of the samples alone, so they need no distribution, no seed and no
/// resampling, and a few wild samples do not move them. The medians' own ratio, with a bootstrap, needs about half as many
/// samples again for the same interval, and gets none worth having where a device hops between two clocks. The price: the
/// ratio is not quite that of the medians which are shown beside it.
///
/// The samples of each side are taken to be independent, which those of one run are not: what changes between runs, such as the
/// place of code or memory, they share. Verdicts that hold for runs to come need several, and the median of each as a sample:
/// [`BenchReport::of_runs`](super::BenchReport::of_runs).
///
/// ```
/// use peermap_report::bench::{Change, Threshold, Unit, Verdict};
///
/// let base = [100.0, 101.0, 99.0, 100.5, 100.2, 99.7];
/// let new = base.map(|sample| sample * 1.1);
/// let change = Change::between(&base, &new, Unit::Nanoseconds, Threshold::default()).unwrap();
/// assert_eq!(change.verdict, Verdict::Slower);
/// // A rate that rises is faster, and the ratio is below 1 then too.
/// let change = Change::between(&base, &new, Unit::GigabytesPerSecond, Threshold::default()).unwrap();
/// assert_eq!(change.verdict, Verdict::Faster);
/// assert!(change.ratio < 0.95);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// What it comes to.
    pub verdict: Verdict,
    /// How many times as slow the new one is: above 1 is slower, whatever the unit.
    pub ratio: f64,
    /// Where the ratio of endless samples lies, with [`CONFIDENCE`](super::CONFIDENCE). `None`: too few samples to say.
    pub interval: Option<Interval>,
    /// The smallest slowdown that would have been called slower, as a ratio, had the interval been as wide around it.
    pub smallest_visible: Option<f64>,
}

impl Change {
    /// The change between samples of one unit.
    ///
    /// The whole interval must lie above the threshold's band to be slower, below it to be faster, and within it to be the
    /// same. Without an interval, which takes four samples on each side, the verdict is ambiguous. Instructions are counted
    /// and not timed: of them, few samples are as good as many, and every ratio that there is makes the interval.
    ///
    /// # Errors
    /// [`SampleError`]: one side has no sample, or one that is not above 0.
    pub fn between(base: &[f64], new: &[f64], unit: Unit, threshold: Threshold) -> Result<Self, SampleError> {
        let (below, above) = below_and_above(base, new, unit);
        let pairs = Pairs::new(below, above)?;
        let interval = pairs.interval().or_else(|| (unit == Unit::Instructions).then(|| pairs.range()));
        Ok(Self::of(pairs.ratio(), interval, threshold))
    }

    /// The change between samples that were taken in pairs, one of each side at about the same time.
    ///
    /// The ratio is the median of the means of each two pairs' ratios (Hodges and Lehmann), and its interval is the one of
    /// Wilcoxon's test of signed ranks, which takes six pairs. What both samples of a pair share is in neither, so that a machine
    /// that gets slower and slower does not hide a change. Else the verdict is that of [`between`](Self::between).
    ///
    /// # Errors
    /// As there.
    pub fn of_pairs(base: &[f64], new: &[f64], unit: Unit, threshold: Threshold) -> Result<Self, SampleError> {
        let (below, above) = below_and_above(base, new, unit);
        let ratios = PairRatios::new(below, above)?;
        let interval = ratios.interval().or_else(|| (unit == Unit::Instructions).then(|| ratios.range()));
        Ok(Self::of(ratios.ratio(), interval, threshold))
    }

    fn of(ratio: f64, interval: Option<Interval>, threshold: Threshold) -> Self {
        let band = threshold.band();
        Self {
            verdict: interval.map_or(Verdict::Ambiguous, |interval| judge(interval, band)),
            ratio,
            interval,
            smallest_visible: interval.map(|Interval { low, high }| band.high * (ratio / low).max(high / ratio)),
        }
    }
}

/// The samples as below and above of a ratio that is higher for what is slower.
const fn below_and_above<'s>(base: &'s [f64], new: &'s [f64], unit: Unit) -> (&'s [f64], &'s [f64]) {
    match unit.better() {
        Better::Lower => (base, new),
        Better::Higher => (new, base),
    }
}

/// Where an interval lies.
fn judge(interval: Interval, band: Interval) -> Verdict {
    if interval.low > band.high {
        Verdict::Slower
    } else if interval.high < band.low {
        Verdict::Faster
    } else if interval.low >= band.low && interval.high <= band.high {
        Verdict::Same
    } else {
        Verdict::Ambiguous
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(base: &[f64], new: &[f64], unit: Unit) -> Change {
        Change::between(base, new, unit, Threshold::default()).unwrap()
    }

    #[test]
    fn the_verdict_follows_from_where_the_interval_lies() {
        let band = Threshold::new(0.25).unwrap().band();
        assert_eq!(band, Interval { low: 0.8, high: 1.25 });
        for (low, high, verdict) in [
            (1.26, 1.5, Verdict::Slower),
            (1.25, 1.5, Verdict::Ambiguous),
            (0.8, 1.25, Verdict::Same),
            (1.01, 1.02, Verdict::Same),
            (0.7, 1.0, Verdict::Ambiguous),
            (0.5, 2.0, Verdict::Ambiguous),
            (0.7, 0.79, Verdict::Faster),
        ] {
            assert_eq!(judge(Interval { low, high }, band), verdict, "{low} to {high}");
        }
    }

    #[test]
    fn few_samples_say_nothing_but_counted_instructions_do() {
        let (base, new) = ([100.0; 3], [200.0; 3]);
        let timed = change(&base, &new, Unit::Nanoseconds);
        assert_eq!((timed.verdict, timed.ratio, timed.interval), (Verdict::Ambiguous, 2.0, None));
        assert_eq!(timed.smallest_visible, None);
        assert_eq!(change(&base[..1], &new[..1], Unit::Instructions).verdict, Verdict::Slower);
        assert_eq!(change(&[100.0], &[100.0, 140.0], Unit::Instructions).verdict, Verdict::Ambiguous);
    }

    #[test]
    fn pairs_are_judged_by_the_ratio_of_each() {
        let base = [100.0, 130.0, 170.0, 220.0, 290.0, 370.0];
        let new = base.map(|sample| sample * 1.1);
        let paired = |unit, pairs| Change::of_pairs(&base[..pairs], &new[..pairs], unit, Threshold::default()).unwrap();
        assert_eq!(change(&base, &new, Unit::Nanoseconds).verdict, Verdict::Ambiguous);
        assert_eq!(paired(Unit::Nanoseconds, 6).verdict, Verdict::Slower);
        assert_eq!(paired(Unit::GigabytesPerSecond, 6).verdict, Verdict::Faster);
        let few = paired(Unit::Nanoseconds, 5);
        assert_eq!((few.verdict, few.interval), (Verdict::Ambiguous, None));
        assert_eq!(paired(Unit::Instructions, 1).verdict, Verdict::Slower);
    }

    #[test]
    fn constant_samples_are_judged_without_a_width() {
        let same = change(&[100.0; 30], &[105.0; 30], Unit::Nanoseconds);
        assert_eq!((same.verdict, same.interval), (Verdict::Same, Some(Interval { low: 1.05, high: 1.05 })));
        assert_eq!(same.smallest_visible, Some(1.05));
        assert_eq!(change(&[100.0; 30], &[106.0; 30], Unit::Nanoseconds).verdict, Verdict::Slower);
    }

    #[test]
    fn a_rate_that_falls_is_slower() {
        let falls = change(&[200.0; 9], &[100.0; 9], Unit::GigabytesPerSecond);
        assert_eq!((falls.verdict, falls.ratio), (Verdict::Slower, 2.0));
    }

    #[test]
    fn thresholds_are_read_as_percent_or_share() {
        for (text, share) in [("5%", 0.05), ("5 %", 0.05), ("0.05", 0.05), ("0", 0.0), ("2.5%", 0.025)] {
            assert_eq!(text.parse::<Threshold>().unwrap().share(), share, "{text}");
        }
        for text in ["5", "100%", "-1%", "NaN", "inf", "five", "%", ""] {
            assert!(text.parse::<Threshold>().unwrap_err().to_string().contains("5% or 0.05"), "{text}");
        }
        assert_eq!(Threshold::default().to_string(), "5 %");
        assert_eq!(Threshold::new(0.025).unwrap().to_string(), "2.5 %");
    }
}
