//! Work on vectors that lie on several devices, and when each device was done.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::run::WorkerReport;

/// What a worker did of a sum of vectors that lie on several devices.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Striped {
    /// How much of the sum its device added.
    ///
    /// # Units
    /// Percent.
    pub part_percent: f64,
    /// When its device was done, from when all began.
    ///
    /// # Units
    /// Milliseconds.
    pub finish_ms: f64,
    /// How many stripes of each vector lie on its device.
    pub stripes_here: u32,
    /// How many stripes each vector has.
    pub stripes: u32,
    /// How many driver calls moved bytes while the last device joined.
    pub copies: u64,
}

impl fmt::Display for Striped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part_percent, finish_ms, stripes_here, stripes, copies } = self;
        write!(
            f,
            "added {part_percent:.1} % in {finish_ms:.1} ms; {stripes_here} of {stripes} stripes on its device; {copies} copies when \
             the last device joined"
        )
    }
}

/// When the first and the last worker were done, and the gap between them. `None`: nobody added anything.
pub(crate) fn gap_line(workers: &[WorkerReport]) -> Option<String> {
    let times = || workers.iter().filter_map(|worker| Some(worker.striped?.finish_ms));
    let (first, last) = (times().reduce(f64::min)?, times().reduce(f64::max)?);
    let gap = last - first;
    let percent = if last > 0.0 { 100.0 * gap / last } else { 0.0 };
    Some(format!("done after {first:.1} to {last:.1} ms: a gap of {gap:.1} ms, {percent:.1} % of the longest"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::report;

    #[test]
    fn the_gap_is_that_between_the_first_and_the_last() {
        let worker = report().workers.remove(0);
        let done =
            |finish_ms| WorkerReport { striped: Some(Striped { finish_ms, ..Striped::default() }), ..worker.clone() };
        let line = "done after 10.0 to 40.0 ms: a gap of 30.0 ms, 75.0 % of the longest";
        assert_eq!(gap_line(&[done(12.0), done(40.0), done(10.0)]).as_deref(), Some(line));
        assert_eq!(gap_line(&[worker]), None);
    }

    #[test]
    fn a_line_tells_what_a_worker_did() {
        let told = Striped { part_percent: 25.0, finish_ms: 12.34, stripes_here: 5, stripes: 16, copies: 0 };
        let line = "added 25.0 % in 12.3 ms; 5 of 16 stripes on its device; 0 copies when the last device joined";
        assert_eq!(told.to_string(), line);
    }
}
