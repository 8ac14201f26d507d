//! A comparison as a table for people.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};

use super::matched::Comparison;
use crate::plain::plain;

impl Comparison {
    /// A table of the benchmarks, and below it what only one side has, what was skipped and the summary. Ends without a line
    /// end.
    #[must_use]
    pub fn table(&self) -> String {
        let mut lines: Vec<String> = (!self.benchmarks.is_empty()).then(|| self.rows()).into_iter().collect();
        lines.extend(self.notes().iter().map(|note| plain(note)));
        lines.push(format!("{} (threshold {})", self.summary, self.threshold));
        lines.join("\n")
    }

    fn rows(&self) -> String {
        let mut table = Table::new();
        table.load_preset(NOTHING);
        table.set_header(["verdict", "benchmark", "base", "new", "times as slow", "95 % interval"]);
        for compared in &self.benchmarks {
            let names = [compared.verdict.to_string(), plain(&compared.id)];
            table.add_row(names.into_iter().chain(compared.cells()));
        }
        for column in table.column_iter_mut().skip(2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table.trim_fmt()
    }

    /// What is no row of the table, a line each.
    pub(super) fn notes(&self) -> Vec<String> {
        let missed = self.missed_floors().map(|floor| format!("floor missed: {}: {}", floor.id, floor.words()));
        let differ = self.machine_differences.iter().map(|difference| format!("the machines differ: {difference}"));
        let base = self.only_in_base.iter().map(|id| format!("only in base: {id}"));
        let new = self.only_in_new.iter().map(|id| format!("only in new: {id}"));
        let skipped = |side, of: &[crate::bench::Skipped]| -> Vec<String> {
            of.iter().map(|skipped| format!("skipped in {side}: {}: {}", skipped.id, skipped.reason)).collect()
        };
        let skipped = [skipped("base", &self.base.skipped), skipped("new", &self.new.skipped)].concat();
        missed.chain(differ).chain(base).chain(new).chain(skipped).chain(self.pairs()).chain(self.caution()).collect()
    }

    /// What the ratios are of, where they are not those of the medians.
    fn pairs(&self) -> Option<String> {
        let text =
            || format!("{} pairs of runs: each ratio is that of the pairs, and not of the medians", self.new.runs);
        self.paired.then(text)
    }

    /// What to keep in mind with a verdict on single runs.
    fn caution(&self) -> Option<String> {
        let text = "one run on each side: the verdicts do not tell a change from what differs between any two runs; four on \
                    each side do";
        self.is_of_single_runs().then(|| text.to_owned())
    }
}
