//! Floors of the new result.

use serde::Serialize;

use crate::bench::result::{Benchmark, Floor};
use crate::bench::summary::Summary;
use crate::bench::unit::Unit;

/// A benchmark that must reach a floor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FloorCheck {
    /// Its id.
    pub id: String,
    /// What its samples are numbers of.
    pub unit: Unit,
    /// The median. `None`: there is no sample, or one is no number.
    pub median: Option<f64>,
    /// What the median must reach.
    pub floor: Floor,
    /// Whether it does.
    pub reached: bool,
}

impl FloorCheck {
    pub(super) fn of(benchmark: &Benchmark) -> Option<Self> {
        let floor = benchmark.floor.clone()?;
        let (id, unit) = (benchmark.id(), benchmark.unit);
        let median = Summary::new(&benchmark.samples).ok().map(|summary| summary.median);
        let reached = floor.is_reached(median, unit);
        Some(Self { id, unit, median, floor, reached })
    }

    /// Median and floor in words: `2000 GB/s, not 3000 GB/s (94 % of memset)`.
    #[must_use]
    pub fn words(&self) -> String {
        let median = self.median.map_or_else(|| "no median".to_owned(), |median| self.unit.show(median));
        let relation = if self.reached { "which reaches" } else { "not" };
        format!("{median}, {relation} {} ({})", self.unit.show(self.floor.value), self.floor.source)
    }
}
