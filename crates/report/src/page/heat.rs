//! What devices move between each other, as a matrix.

use maud::{Markup, html};

use crate::bench::Unit;

use super::line;
use super::measured::{Measured, Suite};
use super::scale::{Scale, range};
use super::size;

/// What a matrix does not tell apart: the ends are its rows and columns, and of the sizes it shows one.
const JOINED: [&str; 5] = ["size", "from", "to", "src", "dst"];
/// How many shades there are.
const SHADES: usize = 5;

/// The benchmarks of a name between all devices, for one size.
struct Matrix<'m> {
    label: String,
    unit: Unit,
    size: Option<&'m str>,
    /// Whether there are other sizes, which the table has.
    others: bool,
    cells: Vec<(&'m str, &'m str, f64)>,
}

/// The matrices of a suite.
pub(super) fn figures(suite: &Suite<'_>) -> Vec<Markup> {
    let mut groups: Vec<(String, Unit, Vec<&Measured<'_>>)> = Vec::new();
    for one in suite.all.iter().filter(|one| one.ends().is_some()) {
        let (label, unit) = (one.label(&JOINED), one.benchmark.unit);
        match groups.iter_mut().find(|(known, of, _)| *known == label && *of == unit) {
            Some((.., group)) => group.push(one),
            None => groups.push((label, unit, vec![one])),
        }
    }
    let matrices = groups.into_iter().map(|(label, unit, group)| matrix(label, unit, &group));
    // One pair alone is no matrix.
    matrices.filter(|matrix| matrix.cells.len() > 1).map(|matrix| draw(&matrix)).collect()
}

/// The matrix of the largest size, where rates tell most about the links.
fn matrix<'m>(label: String, unit: Unit, group: &[&'m Measured<'m>]) -> Matrix<'m> {
    let bytes = |one: &&Measured<'m>| one.parameter("size").and_then(size::bytes);
    let size = group.iter().copied().max_by_key(bytes).and_then(|one| one.parameter("size"));
    let cell = |one: &&'m Measured<'m>| {
        let (from, to) = one.ends()?;
        Some((from, to, one.summary.as_ref()?.median))
    };
    let shown = group.iter().filter(|one| one.parameter("size") == size);
    let others = group.iter().any(|one| one.parameter("size") != size);
    Matrix { label, unit, size, others, cells: shown.filter_map(cell).collect() }
}

fn draw(matrix: &Matrix<'_>) -> Markup {
    let Matrix { label, unit, size, others, cells } = matrix;
    let (rows, columns) = (ends(cells.iter().map(|cell| cell.0)), ends(cells.iter().map(|cell| cell.1)));
    // What a device moves within itself is many times quicker than any link, and would leave one shade for all of those.
    let (low, high) = range(cells.iter().filter(|(from, to, _)| from != to).map(|cell| cell.2));
    let scale = Scale::linear((low, high), (0.0, SHADES as f64));
    html! {
        figure {
            figcaption {
                (line::subject(*unit)) " between devices: " (label)
                @if let Some(size) = size { ", " (size) }
                small {
                    "Median, " (unit) ", from the device of the row to that of the column. "
                    @if high > low { "Darker is more: " (unit.show(low)) " to " (unit.show(high)) ". " }
                    @if *others { "The table below has the other sizes." }
                }
            }
            div.scroll tabindex="0" role="region" aria-label={ (line::subject(*unit)) " between devices, " (label) } {
                table.heat {
                    thead { tr { th scope="col" { "from \\ to" } @for column in &columns { th scope="col" { (column) } } } }
                    tbody {
                        @for row in &rows {
                            tr {
                                th scope="row" { (row) }
                                @for column in &columns { (field(*unit, cells, row, column, &scale)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn field(unit: Unit, cells: &[(&str, &str, f64)], row: &str, column: &str, scale: &Scale) -> Markup {
    let Some((.., value)) = cells.iter().find(|(from, to, _)| (*from, *to) == (row, column)) else {
        return html! { td.none { "–" } };
    };
    let shade = (scale.place(*value) as usize).min(SHADES - 1);
    let class = if row == column { "own".to_owned() } else { format!("s{shade}") };
    html! { td.(class) title={ (row) " to " (column) ": " (unit.show(*value)) } { (number(unit, *value)) } }
}

/// A value without its unit, which the caption has.
fn number(unit: Unit, value: f64) -> String {
    match unit {
        Unit::GigabytesPerSecond => {
            let shown = unit.show(value);
            shown.trim_end_matches(" GB/s").to_owned()
        }
        Unit::Nanoseconds | Unit::Instructions => format!("{value:.0}"),
    }
}

/// The ends in their order: devices by number, then what is none.
fn ends<'m>(all: impl Iterator<Item = &'m str>) -> Vec<&'m str> {
    let mut ends: Vec<&str> = all.collect();
    ends.sort_unstable_by_key(|end| (end.parse::<u32>().unwrap_or(u32::MAX), *end));
    ends.dedup();
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Benchmark;
    use crate::page::made_up::benchmark;

    fn drawn(pairs: &[(&str, &str, &str, f64)]) -> Vec<String> {
        let pair = |(from, to, size, value): &(&str, &str, &str, f64)| Benchmark {
            unit: Unit::GigabytesPerSecond,
            samples: vec![*value; 9],
            ..benchmark("copy", "peer", &[("src", from), ("dst", to), ("size", size)])
        };
        let all: Vec<Benchmark> = pairs.iter().map(pair).collect();
        let suite = Suite { name: "copy", all: all.iter().map(Measured::new).collect() };
        figures(&suite).into_iter().map(Markup::into_string).collect()
    }

    #[test]
    fn the_largest_size_is_shown_with_devices_in_the_order_of_their_numbers() {
        let pairs = [
            ("10", "2", "1 GiB", 370.0),
            ("2", "10", "1 GiB", 390.0),
            ("2", "2", "1 GiB", 2100.0),
            ("2", "10", "64 KiB", 3.0),
        ];
        let drawn = drawn(&pairs);
        assert_eq!(drawn.len(), 1);
        assert!(drawn[0].contains(">2</th><th scope=\"col\">10</th>"), "{}", drawn[0]);
        assert!(drawn[0].contains("peer, 1 GiB") && drawn[0].contains("the other sizes"), "{}", drawn[0]);
        assert!(drawn[0].contains(">2100</td>") && drawn[0].contains("td class=\"none\""), "{}", drawn[0]);
    }

    #[test]
    fn the_shade_tells_links_apart_and_leaves_out_the_device_itself() {
        let drawn = &drawn(&[("0", "1", "1 B", 100.0), ("1", "0", "1 B", 400.0), ("0", "0", "1 B", 3000.0)])[0];
        for cell in ["class=\"s0\" title=\"0 to 1: 100 GB/s\"", "class=\"s4\" title=\"1 to 0", "class=\"own\""] {
            assert!(drawn.contains(cell), "{cell} in {drawn}");
        }
    }

    #[test]
    fn one_pair_is_no_matrix() {
        assert!(drawn(&[("0", "1", "1 B", 100.0)]).is_empty());
    }
}
