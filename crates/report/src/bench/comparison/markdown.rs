//! A comparison as a comment on a change.

use super::matched::Comparison;
use super::sides::Compared;
use crate::bench::verdict::Verdict;
use crate::plain::plain;

impl Comparison {
    /// Markdown as GitHub and GitLab read it: the summary, the benchmarks that became slower, the floors that were missed, and
    /// the rest folded. Ends with a line end.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("**{}** (threshold {})\n", self.summary, self.threshold);
        let (slower, rest): (Vec<_>, Vec<_>) =
            self.benchmarks.iter().partition(|compared| compared.verdict == Verdict::Slower);
        if !slower.is_empty() {
            text.push('\n');
            text.push_str(&table(&slower));
        }
        let notes = self.notes();
        let (missed, notes) = notes.split_at(self.missed_floors().count());
        if !missed.is_empty() {
            text.push('\n');
            text.push_str(&list(missed));
        }
        if rest.is_empty() && notes.is_empty() {
            return text;
        }
        text.push_str("\n<details><summary>everything else</summary>\n");
        if !rest.is_empty() {
            text.push('\n');
            text.push_str(&table(&rest));
        }
        if !notes.is_empty() {
            text.push('\n');
        }
        text.push_str(&list(notes));
        text.push_str("\n</details>\n");
        text
    }
}

fn table(rows: &[&Compared]) -> String {
    let mut text = "| | benchmark | base | new | times as slow | 95 % interval |\n".to_owned();
    text.push_str("| --- | --- | ---: | ---: | ---: | ---: |\n");
    for compared in rows {
        let cells = compared.cells().join(" | ");
        text.push_str(&format!("| {} | {} | {cells} |\n", compared.verdict, cell(&compared.id)));
    }
    text
}

fn list(notes: &[String]) -> String {
    notes.iter().map(|note| format!("- {}\n", literal(note))).collect()
}

/// A text that comes from a file, so that nothing in it is markup or calls a person.
fn literal(text: &str) -> String {
    format!("`{}`", plain(text).replace('`', "'"))
}

/// The same in a table, where a bar would end the cell even so.
fn cell(text: &str) -> String {
    literal(text).replace('|', r"\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{BenchReport, Benchmark, ComparisonOptions, Floor, Unit};

    #[test]
    fn floors_that_were_missed_are_not_folded() {
        let mut report = BenchReport::new("cuda", "2026-01-31T12:00:00Z");
        let floor = Some(Floor { value: 3000.0, source: "94 % of memset".to_owned() });
        let (suite, name, unit) = ("bandwidth".to_owned(), "fill_id".to_owned(), Unit::GigabytesPerSecond);
        report.benchmarks =
            vec![Benchmark { suite, name, parameters: [].into(), unit, samples: vec![2000.0; 9], floor, peak: None }];
        let text = Comparison::new(&report, &report, ComparisonOptions::default()).unwrap().markdown();
        let (open, folded) = text.split_once("<details>").unwrap();
        assert!(open.contains("1 same, 0 ambiguous, 1 floor missed"), "{open}");
        let line = "\n- `floor missed: bandwidth/fill_id: 2000 GB/s, not 3000 GB/s (94 % of memset)`\n";
        assert!(open.contains(line) && !folded.contains("floor"), "{text}");
    }

    #[test]
    fn texts_of_files_cannot_become_markup() {
        assert_eq!(literal("a|b\n<b>`@all"), "`a|b <b>'@all`");
        assert_eq!(cell("a|b"), r"`a\|b`");
    }
}
