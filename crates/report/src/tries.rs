//! What workers tried with rights that they had or had not.

use std::collections::BTreeMap;

use comfy_table::Table;
use comfy_table::presets::NOTHING;
use serde::{Deserialize, Serialize};

use crate::run::WorkerReport;

/// A try of a worker, which ended as it must.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Try {
    /// The rights of the worker's device.
    pub right: String,
    /// What was tried.
    pub deed: String,
    /// `done`, or the error that refused it.
    pub answer: String,
}

/// All tries: a row for each device and right, a column for each deed, both in the order in which they were met first.
/// `None`: nothing was tried.
pub(crate) fn tries_table(workers: &[WorkerReport]) -> Option<String> {
    let (mut rows, mut deeds, mut answers) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (worker, Try { right, deed, answer }) in
        workers.iter().flat_map(|worker| worker.tries.iter().map(move |tried| (worker, tried)))
    {
        let row = (worker.device, right.as_str());
        note(&mut rows, row);
        note(&mut deeds, deed.as_str());
        answers.insert((row, deed.as_str()), answer.as_str());
    }
    if rows.is_empty() {
        return None;
    }
    let mut table = Table::new();
    table.load_preset(NOTHING);
    table.set_header(["device", "rights"].into_iter().chain(deeds.iter().copied()));
    for row in rows {
        let (device, right) = (row.0.to_string(), row.1.to_owned());
        let told = deeds.iter().map(|deed| answers.get(&(row, *deed)).map_or("-", |answer| *answer).to_owned());
        table.add_row([device, right].into_iter().chain(told));
    }
    Some(format!("\n{}\n", table.trim_fmt()))
}

fn note<T: PartialEq>(known: &mut Vec<T>, one: T) {
    if !known.contains(&one) {
        known.push(one);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::report;

    fn tried(right: &str, deed: &str, answer: &str) -> Try {
        Try { right: right.to_owned(), deed: deed.to_owned(), answer: answer.to_owned() }
    }

    #[test]
    fn tries_of_all_workers_of_a_device_stand_in_one_row_for_each_right() {
        let worker = report().workers.remove(0);
        let one = WorkerReport {
            tries: vec![tried("read", "load", "done"), tried("read", "set", "CUDA_ERROR_INVALID_VALUE")],
            ..worker.clone()
        };
        let two = WorkerReport { tries: vec![tried("read", "store", "CUDA_ERROR_ILLEGAL_ADDRESS")], ..worker.clone() };
        let other = WorkerReport { device: 1, tries: vec![tried("revoked", "load", "done")], ..worker };
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
        let table = tries_table(&[one, two, other]).unwrap();
        assert_eq!(
            table.trim().lines().map(words).collect::<Vec<_>>(),
            [
                "device rights load set store",
                "0 read done CUDA_ERROR_INVALID_VALUE CUDA_ERROR_ILLEGAL_ADDRESS",
                "1 revoked done - -"
            ]
        );
    }

    #[test]
    fn without_tries_there_is_no_table() {
        assert_eq!(tries_table(&report().workers), None);
    }
}
