//! What samples are numbers of.

use std::fmt;

use serde::{Deserialize, Serialize};

/// From here on nobody reads a number digit by digit.
const HUGE: f64 = 1e12;

/// What the samples of a benchmark are numbers of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Unit {
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Billions of bytes a second.
    #[serde(rename = "GB/s")]
    GigabytesPerSecond,
    /// Instructions, which do not depend on what else the machine does.
    #[serde(rename = "instructions")]
    Instructions,
}

/// Which of two values is the better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Better {
    /// The lower one: a time.
    Lower,
    /// The higher one: a rate.
    Higher,
}

impl Unit {
    /// Which of two values in this unit is the better one.
    #[must_use]
    pub const fn better(self) -> Better {
        match self {
            Self::Nanoseconds | Self::Instructions => Better::Lower,
            Self::GigabytesPerSecond => Better::Higher,
        }
    }

    /// A value in words: `34.2 us`, `2979 GB/s`.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Nanoseconds if value < 1e3 => format!("{value:.0} ns"),
            Self::Nanoseconds if value < 1e6 => format!("{} us", three_digits(value / 1e3)),
            Self::Nanoseconds if value < 1e9 => format!("{} ms", three_digits(value / 1e6)),
            Self::Nanoseconds => format!("{} s", three_digits(value / 1e9)),
            Self::GigabytesPerSecond => format!("{} GB/s", three_digits(value)),
            Self::Instructions if value >= HUGE => format!("{value:.2e} instructions"),
            Self::Instructions => format!("{value:.0} instructions"),
        }
    }
}

/// A number with three digits that say something. What nothing measures has a power of ten.
fn three_digits(value: f64) -> String {
    if value >= HUGE {
        return format!("{value:.2e}");
    }
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$}")
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nanoseconds => "ns",
            Self::GigabytesPerSecond => "GB/s",
            Self::Instructions => "instructions",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_with_three_digits_in_a_unit_that_fits() {
        assert_eq!(Unit::Nanoseconds.show(712.0), "712 ns");
        assert_eq!(Unit::Nanoseconds.show(34_210.0), "34.2 us");
        assert_eq!(Unit::Nanoseconds.show(1_003_000.0), "1.00 ms");
        assert_eq!(Unit::Nanoseconds.show(2.5e9), "2.50 s");
        assert_eq!(Unit::GigabytesPerSecond.show(2979.4), "2979 GB/s");
        assert_eq!(Unit::Nanoseconds.show(1e300), "1.00e291 s");
        assert_eq!(Unit::Instructions.show(1e15), "1.00e15 instructions");
    }
}
