//! How much is measured.

use std::time::Duration;

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Rounds whose samples do not count.
    pub warm_up: usize,
    /// The fewest samples, unless the time is up before.
    pub least: usize,
    /// The fewest samples of work that takes longer than its time.
    pub least_late: usize,
    /// The most samples.
    pub most: usize,
    /// A median is certain enough when its interval is no wider than this part of it.
    pub width: f64,
    /// How long a group may take, warm-up included.
    pub time: Duration,
    /// Whether fewer sizes are measured.
    pub quick: bool,
}

impl Effort {
    /// A look: under a minute and a half for all suites.
    pub const QUICK: Self = Self {
        warm_up: 2,
        least: 10,
        least_late: Self::LEAST_LATE,
        most: 200,
        width: 0.05,
        time: Duration::from_millis(500),
        quick: true,
    };

    /// All of it: under eight minutes for all suites.
    pub const FULL: Self = Self {
        warm_up: 5,
        least: 30,
        least_late: Self::LEAST_LATE,
        most: 1000,
        width: 0.01,
        time: Duration::from_secs(3),
        quick: false,
    };

    /// Enough for a verdict with an interval.
    const LEAST_LATE: usize = 8;

    /// The same with exactly so many samples, however certain they are and however long it takes.
    #[must_use]
    pub const fn with_exactly(self, samples: usize) -> Self {
        Self { least: samples, least_late: samples, most: samples, ..self }
    }
}
