//! What the calls of a run took together.

use std::collections::BTreeMap;

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use serde::{Deserialize, Serialize};

use super::ProcessCalls;

/// What all calls of one name took, in all processes of a run.
///
/// # Units
/// Microseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallSummary {
    /// CUDA's name: `cuMemMap`.
    pub call: String,
    /// How many there were.
    pub count: u64,
    /// Half of them took at most this.
    pub p50_us: f64,
    /// 99 of 100 of them took at most this.
    pub p99_us: f64,
    /// What they took together.
    pub total_us: f64,
}

impl CallSummary {
    /// The calls by name, those first that took the most together.
    #[must_use]
    pub fn of(processes: &[ProcessCalls]) -> Vec<Self> {
        let mut by_name: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for call in processes.iter().flat_map(|process| &process.calls) {
            by_name.entry(&call.call).or_default().push(call.duration_ns);
        }
        let mut all: Vec<Self> = by_name.into_iter().filter_map(|(call, times)| Self::of_one(call, times)).collect();
        // A stable sort: calls that took the same stay in the order of their names.
        all.sort_by(|one, other| other.total_us.total_cmp(&one.total_us));
        all
    }

    fn of_one(call: &str, mut times_ns: Vec<u64>) -> Option<Self> {
        times_ns.sort_unstable();
        Some(Self {
            call: call.to_owned(),
            count: times_ns.len() as u64,
            p50_us: microseconds(percentile(&times_ns, 50)?),
            p99_us: microseconds(percentile(&times_ns, 99)?),
            total_us: microseconds(times_ns.iter().sum()),
        })
    }
}

/// The least of some values that at least `percent` of 100 of them do not exceed: one of them, never something between.
fn percentile(sorted: &[u64], percent: usize) -> Option<u64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

/// Nanoseconds as microseconds.
pub(super) fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e3
}

/// The calls as a table for people, without a line end.
pub(crate) fn calls_table(calls: &[CallSummary]) -> String {
    let mut table = Table::new();
    table.load_preset(NOTHING);
    table.set_header(["call", "count", "p50 us", "p99 us", "total us"]);
    for call in calls {
        let times = [call.p50_us, call.p99_us, call.total_us].map(|time| format!("{time:.1}"));
        table.add_row([call.call.clone(), call.count.to_string()].into_iter().chain(times));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{call, parent, worker};
    use super::*;

    fn of_times(times: impl IntoIterator<Item = u64>) -> CallSummary {
        let calls = times.into_iter().map(|time| call("cuMemMap", 0, time)).collect();
        let [summary] = <[_; 1]>::try_from(CallSummary::of(&[ProcessCalls { calls, ..parent() }])).unwrap();
        summary
    }

    #[test]
    fn a_percentile_is_one_of_the_times() {
        let hundred = of_times((1..=100).rev().map(|time| time * 1000));
        assert_eq!((hundred.count, hundred.p50_us, hundred.p99_us, hundred.total_us), (100, 50.0, 99.0, 5050.0));
        let two = of_times([3000, 1000]);
        assert_eq!((two.p50_us, two.p99_us), (1.0, 3.0));
        let one = of_times([1234]);
        assert_eq!((one.p50_us, one.p99_us, one.total_us), (1.234, 1.234, 1.234));
    }

    #[test]
    fn one_slow_call_of_a_hundred_is_above_the_99_and_of_ninety_nine_it_is_them() {
        let slow_among = |count: u64| of_times((1..count).map(|_| 1000).chain([9000])).p99_us;
        assert_eq!((slow_among(100), slow_among(99)), (1.0, 9.0));
    }

    #[test]
    fn no_calls_are_no_summary() {
        assert_eq!(CallSummary::of(&[]), []);
        assert_eq!(percentile(&[], 99), None);
    }

    #[test]
    fn calls_of_all_processes_count_together_and_the_costly_ones_come_first() {
        let summaries = CallSummary::of(&[worker(), parent()]);
        let shown: Vec<_> = summaries.iter().map(|call| (call.call.as_str(), call.count, call.total_us)).collect();
        assert_eq!(shown, [("cuInit", 2, 2.2), ("cuMemMap", 1, 0.01)]);
    }

    #[test]
    fn the_table_has_a_row_for_each_call() {
        let text = calls_table(&CallSummary::of(&[parent(), worker()]));
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = text.lines().map(words).collect();
        assert_eq!(lines, ["call count p50 us p99 us total us", "cuInit 2 0.7 1.5 2.2", "cuMemMap 1 0.0 0.0 0.0"]);
    }
}
