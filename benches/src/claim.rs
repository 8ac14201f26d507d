//! Claims: something measured, a bound, and whether it holds.

use std::fmt;
use std::time::Duration;

/// What a bound allows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Bound {
    /// No longer than this.
    AtMost(Duration),
    /// A ratio of at least this.
    RatioAtLeast(f64),
    /// A ratio that is no further from 1 than this share, either way.
    RatioWithin(f64),
    /// At least so many a second.
    RateAtLeast(u32),
}

/// What was measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Measured {
    /// A time.
    Time(Duration),
    /// How many times as fast as `other` what took `ours` was.
    Ratio {
        /// The time of ours.
        ours: Duration,
        /// The time of what it is compared with.
        other: Duration,
    },
    /// How long so many took.
    Rate {
        /// How many.
        count: u32,
        /// How long all of them took.
        time: Duration,
    },
    /// The claim is about machines of another kind; the text says which.
    NotHere(&'static str),
}

/// A claim of the documentation with what was measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Claim {
    /// The claim in words.
    pub words: String,
    /// What was measured.
    pub measured: Measured,
    /// What it is judged by.
    pub bound: Bound,
}

impl Claim {
    /// Whether the bound is kept. What cannot be measured on this machine misses nothing.
    #[must_use]
    pub fn holds(&self) -> bool {
        match (self.measured, self.bound) {
            (Measured::NotHere(_), _) => true,
            (Measured::Time(time), Bound::AtMost(most)) => time <= most,
            (Measured::Ratio { ours, other }, Bound::RatioAtLeast(least)) => {
                other.as_secs_f64() >= least * ours.as_secs_f64()
            }
            (Measured::Ratio { ours, other }, Bound::RatioWithin(share)) => {
                let (ours, other) = (ours.as_secs_f64(), other.as_secs_f64());
                ours <= other * (1.0 + share) && other <= ours * (1.0 + share)
            }
            (Measured::Rate { count, time }, Bound::RateAtLeast(least)) => {
                f64::from(count) >= f64::from(least) * time.as_secs_f64()
            }
            (Measured::Time(_) | Measured::Ratio { .. } | Measured::Rate { .. }, _) => false,
        }
    }

    /// The claim as a line: words, what was measured, bound, verdict. Where only the way was tried and not the time, the
    /// verdict is left out.
    #[must_use]
    pub fn line(&self, judged: bool) -> String {
        let verdict = match self.measured {
            _ if !judged => "not judged",
            Measured::NotHere(_) => "not here",
            _ if self.holds() => "ok",
            _ => "MISSED",
        };
        format!("{} | {} | {} | {verdict}", self.words, self.measured, self.bound)
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => write!(f, "{time:?}"),
            Self::Ratio { ours, other } => {
                let ratio = other.as_secs_f64() / ours.as_secs_f64();
                write!(f, "{ratio:.2} times as fast ({ours:?} against {other:?})")
            }
            Self::Rate { count, time } => {
                let rate = f64::from(*count) / time.as_secs_f64();
                write!(f, "{rate:.0} a second ({count} in {time:?})")
            }
            Self::NotHere(why) => f.write_str(why),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "at most {most:?}"),
            Self::RatioAtLeast(least) => write!(f, "at least {least} times as fast"),
            Self::RatioWithin(share) => write!(f, "the same within {} %", share * 100.0),
            Self::RateAtLeast(least) => write!(f, "at least {least} a second"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(measured: Measured, bound: Bound) -> Claim {
        Claim { words: "a thing".to_owned(), measured, bound }
    }

    const fn micros(count: u64) -> Duration {
        Duration::from_micros(count)
    }

    #[test]
    fn a_time_is_judged_by_its_bound() {
        let bound = Bound::AtMost(micros(150));
        assert!(claim(Measured::Time(micros(150)), bound).holds());
        assert!(!claim(Measured::Time(micros(151)), bound).holds());
    }

    #[test]
    fn a_ratio_counts_how_many_times_as_fast_ours_was() {
        let bound = Bound::RatioAtLeast(0.25);
        assert!(claim(Measured::Ratio { ours: micros(4), other: micros(1) }, bound).holds());
        assert!(!claim(Measured::Ratio { ours: micros(5), other: micros(1) }, bound).holds());
    }

    #[test]
    fn a_ratio_may_be_bound_both_ways() {
        let bound = Bound::RatioWithin(0.05);
        assert_eq!(bound.to_string(), "the same within 5 %");
        assert!(claim(Measured::Ratio { ours: micros(105), other: micros(100) }, bound).holds());
        assert!(claim(Measured::Ratio { ours: micros(100), other: micros(105) }, bound).holds());
        assert!(!claim(Measured::Ratio { ours: micros(106), other: micros(100) }, bound).holds());
        assert!(!claim(Measured::Ratio { ours: micros(100), other: micros(106) }, bound).holds());
    }

    #[test]
    fn a_rate_counts_how_many_there_were_in_a_second() {
        let bound = Bound::RateAtLeast(1_000_000);
        assert!(claim(Measured::Rate { count: 5000, time: micros(5000) }, bound).holds());
        assert!(!claim(Measured::Rate { count: 4999, time: micros(5000) }, bound).holds());
    }

    #[test]
    fn what_was_measured_is_of_the_kind_of_its_bound() {
        assert!(!claim(Measured::Time(micros(1)), Bound::RatioAtLeast(0.0)).holds());
        assert!(!claim(Measured::Rate { count: 1, time: micros(1) }, Bound::AtMost(micros(2))).holds());
    }

    #[test]
    fn a_line_says_what_was_claimed_measured_and_found() {
        let missed = claim(Measured::Ratio { ours: micros(5), other: micros(1) }, Bound::RatioAtLeast(0.25));
        assert_eq!(
            missed.line(true),
            "a thing | 0.20 times as fast (5µs against 1µs) | at least 0.25 times as fast | MISSED"
        );
        assert_eq!(
            claim(Measured::Time(micros(2)), Bound::AtMost(micros(3))).line(false),
            "a thing | 2µs | at most 3µs | not judged"
        );
    }
}
