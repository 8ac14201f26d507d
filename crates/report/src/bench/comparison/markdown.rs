//! A comparison as a comment on a change.

use super::matched::Comparison;
use super::sides::Compared;
use crate::bench::verdict::Verdict;

impl Comparison {
    /// Markdown as GitHub and GitLab read it: the summary, the benchmarks that became slower, and the rest folded. Ends with a
    /// line end.
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
        for note in notes {
            text.push_str(&format!("- {}\n", literal(&note)));
        }
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

/// A text that comes from a file, so that nothing in it is markup or calls a person.
fn literal(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("`{}`", plain.replace('`', "'"))
}

/// The same in a table, where a bar would end the cell even so.
fn cell(text: &str) -> String {
    literal(text).replace('|', r"\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_files_cannot_become_markup() {
        assert_eq!(literal("a|b\n<b>`@all"), "`a|b <b>'@all`");
        assert_eq!(cell("a|b"), r"`a\|b`");
    }
}
