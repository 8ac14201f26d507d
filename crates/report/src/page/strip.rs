//! How the samples of each benchmark are spread: a small figure each.

use maud::{Markup, html};

use crate::bench::{Summary, Unit};

use super::figure::{self, At};
use super::measured::{Measured, Suite};
use super::scale::Scale;

/// How many are drawn of a suite.
const MOST: usize = 48;
/// Fewer samples have no shape.
const FEWEST: usize = 5;
const BINS: usize = 36;
const WIDTH: f64 = 180.0;
const HEIGHT: f64 = 74.0;
/// Where the columns stand.
const GROUND: f64 = 56.0;
const TOP: f64 = 14.0;

/// The figures of a suite, and how many were left out. If not all fit, the surest are left out.
pub(super) fn figures(suite: &Suite<'_>) -> (Vec<Markup>, usize) {
    let shaped = suite.all.iter().filter_map(|one| Some((one, one.summary.as_ref()?)));
    let mut chosen: Vec<_> = shaped.filter(|(_, summary)| summary.count >= FEWEST).enumerate().collect();
    let left_out = chosen.len().saturating_sub(MOST);
    let unsure = |summary: &Summary| summary.relative_width();
    chosen.sort_by(|(_, (_, one)), (_, (_, two))| unsure(two).total_cmp(&unsure(one)));
    chosen.truncate(MOST);
    chosen.sort_by_key(|(number, _)| *number);
    (chosen.into_iter().map(|(_, (one, summary))| draw(one, summary)).collect(), left_out)
}

fn draw(one: &Measured<'_>, summary: &Summary) -> Markup {
    let unit = one.benchmark.unit;
    let spread = Spread::new(&one.benchmark.samples);
    let Spread { low, high, below, above, .. } = spread;
    let median = Scale::linear((low, high), (0.0, WIDTH)).place(summary.median);
    let label = one.label(&[]);
    html! {
        figure {
            figcaption { (label) small { "median " (unit.show(summary.median)) ", n = " (summary.count) } }
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" {
                title { "Distribution of " (label) }
                desc { (description(unit, summary, &spread)) }
                path.bars d=(columns(&spread.bins)) {}
                path.axis d={ "M0 " (GROUND) "H" (WIDTH) } {}
                path.median d={ "M" (At(median)) " " (TOP) "V" (GROUND + 4.0) } {}
                text.tick x="0" y=(HEIGHT - 4.0) { (figure::short_with_unit(unit, low)) }
                text.tick.end x=(WIDTH) y=(HEIGHT - 4.0) { (figure::short_with_unit(unit, high)) }
                @if below > 0 { text.tick x="0" y="9" { "◂ " (below) " lower" } }
                @if above > 0 { text.tick.end x=(WIDTH) y="9" { (above) " higher ▸" } }
            }
        }
    }
}

fn description(unit: Unit, summary: &Summary, spread: &Spread) -> String {
    let Spread { below, above, .. } = spread;
    let (least, most) = (unit.show(summary.min), unit.show(summary.max));
    format!("{} samples from {least} to {most}; {below} lie below the figure and {above} above it", summary.count)
}

/// How many samples lie where. Those far outside the middle half are only counted: one would press all others into a column.
struct Spread {
    low: f64,
    high: f64,
    below: usize,
    above: usize,
    bins: [usize; BINS],
}

impl Spread {
    fn new(samples: &[f64]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
        let (first, third) = (sorted[sorted.len() / 4], sorted[sorted.len() * 3 / 4]);
        let reach = 3.0 * (third - first);
        // Where half of the samples are equal there is no width to go by.
        let (low, high) = if reach > 0.0 { (least.max(first - reach), most.min(third + reach)) } else { (least, most) };
        let scale = Scale::linear((low, high), (0.0, BINS as f64));
        let mut bins = [0; BINS];
        for sample in sorted.iter().filter(|sample| (low..=high).contains(*sample)) {
            bins[(scale.place(*sample) as usize).min(BINS - 1)] += 1;
        }
        let below = sorted.iter().filter(|sample| **sample < low).count();
        let above = sorted.iter().filter(|sample| **sample > high).count();
        Self { low, high, below, above, bins }
    }
}

/// All columns as one outline.
fn columns(bins: &[usize]) -> String {
    let most = bins.iter().copied().max().unwrap_or(0).max(1);
    let scale = Scale::linear((0.0, most as f64), (GROUND, TOP));
    let width = At(WIDTH / bins.len() as f64);
    let tops = bins.iter().map(|count| format!("V{}h{width}", At(scale.place(*count as f64))));
    format!("M0 {}{}V{}z", At(GROUND), tops.collect::<String>(), At(GROUND))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Benchmark;
    use crate::page::made_up::benchmark;

    #[test]
    fn every_sample_is_in_a_column_or_counted_outside() {
        let mut samples: Vec<f64> = (0..100).map(f64::from).collect();
        samples.extend([10_000.0, 20_000.0, -5_000.0]);
        let spread = Spread::new(&samples);
        assert_eq!((spread.below, spread.above), (1, 2));
        assert_eq!(spread.bins.iter().sum::<usize>(), 100);
    }

    #[test]
    fn samples_that_are_all_equal_are_one_column() {
        let spread = Spread::new(&[7.0; 9]);
        assert_eq!((spread.below, spread.above, spread.bins[BINS / 2]), (0, 0, 9));
    }

    #[test]
    fn the_least_sure_are_drawn_if_not_all_fit() {
        let steady = |name: &str| Benchmark { samples: vec![5.0; 9], ..benchmark("s", name, &[]) };
        let mut all: Vec<Benchmark> = (0..MOST).map(|number| steady(&format!("steady_{number}"))).collect();
        all.push(benchmark("s", "unsteady", &[]));
        let suite = Suite { name: "s", all: all.iter().map(Measured::new).collect() };
        let (drawn, left_out) = figures(&suite);
        assert_eq!((drawn.len(), left_out), (MOST, 1));
        assert!(drawn.last().unwrap().0.contains("unsteady"));
    }

    #[test]
    fn few_samples_are_not_drawn() {
        let one = Benchmark { samples: vec![1.0; FEWEST - 1], ..benchmark("s", "n", &[]) };
        let suite = Suite { name: "s", all: vec![Measured::new(&one)] };
        assert!(figures(&suite).0.is_empty());
    }
}
