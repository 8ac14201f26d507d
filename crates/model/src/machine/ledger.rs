//! What a machine remembers of its processes: what they still held when they ended, and what they did that a careful program does
//! not do.

use std::collections::{BTreeSet, VecDeque};

use super::{HolderList, Machine};
use crate::rules;
use crate::wire::ProcessId;

/// How much of each kind is remembered: a machine that runs for days shall not grow.
const MOST_REMEMBERED: usize = 256;

/// What a process still held when it ended. The machine has taken it back, as a driver does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leak {
    /// The process.
    pub process: ProcessId,
    /// What it held, and how.
    pub held: HolderList,
}

/// Something that the driver accepts and a careful program does not do, and who did it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The process.
    pub process: ProcessId,
    /// The rule about it.
    pub rule: String,
    /// Both sides of it, in a sentence.
    pub text: String,
}

/// What is remembered: the last of each kind, and how many there were.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    /// Leaks.
    pub leaks: VecDeque<Leak>,
    /// How many there were.
    pub all_leaks: u64,
    /// Misuses.
    pub reports: VecDeque<Report>,
    /// How many there were.
    pub all_reports: u64,
    /// Processes that cannot give anything back.
    excused: BTreeSet<ProcessId>,
}

impl Ledger {
    fn leak(&mut self, process: ProcessId, held: HolderList) {
        if !self.excused.remove(&process) && !held.0.is_empty() {
            self.all_leaks += 1;
            remember(&mut self.leaks, Leak { process, held });
        }
    }

    pub(super) fn excuse(&mut self, process: ProcessId) {
        self.excused.insert(process);
    }

    pub(super) fn take(&mut self, report: Report) {
        self.all_reports += 1;
        remember(&mut self.reports, report);
    }
}

fn remember<T>(all: &mut VecDeque<T>, one: T) {
    if all.len() == MOST_REMEMBERED {
        all.pop_front();
    }
    all.push_back(one);
}

impl Machine {
    /// What the processes left and did.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Notes what a process that ends still holds, and what of it others still use.
    pub(super) fn note_end(&mut self, process: ProcessId) {
        let held = self.held_alone(process);
        self.ledger.leak(process, held);
        let of_others = self.legacy.values().filter(|export| export.exporter == process);
        let used: Vec<_> = of_others.filter_map(|export| Some((export.size, export.open_since()?))).collect();
        for (size, site) in used {
            let by = format_args!("the end of process {}", process.0);
            let misuse = rules::ALLOC_4.misuse(&[("size", &size)], &by, Some(site));
            if let Some(misuse) = misuse {
                self.ledger.take(Report { process, rule: misuse.rule.to_string(), text: misuse.to_string() });
            }
        }
    }
}
