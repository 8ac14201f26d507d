//! Figures by size, or by a number of something: a line for each series, with a bar for the interval of each median.

use maud::{Markup, html};

use crate::bench::Unit;

use super::figure::{self, Area, At, KINDS, MARGIN, Tick, WIDTH};
use super::gather::Figure;
use super::measured::{self, Suite};
use super::scale::{Scale, range};
use super::series::{self, Along, Point, Series};
use super::size;

const HEIGHT: f64 = 262.0;
const AREA: Area = Area { x: 62.0..WIDTH - MARGIN, y: 20.0..HEIGHT - 26.0 };
/// How many texts fit below a figure.
const TEXTS: usize = 6;
/// Rates that lie closer together than this ratio are drawn from zero, where equal differences look equal.
const CLOSE: f64 = 20.0;
/// How far the values stay from the ends of a logarithmic axis, as a ratio.
const ROOM: f64 = 1.15;

/// The figures of a suite in a unit, with the same axes for the same parameter.
pub(super) fn figures(suite: &Suite<'_>, unit: Unit) -> Vec<Markup> {
    let all = series::lines(suite, unit);
    all.iter().flat_map(|along| along.figures.iter().map(|one| figure(unit, along, one))).collect()
}

fn figure(unit: Unit, along: &Along<'_>, Figure { common, lines }: &Figure) -> Markup {
    let all = along.figures.iter().flat_map(|figure| &figure.lines);
    let points: Vec<&Point> = all.flat_map(|line| &line.points).collect();
    let across = Across::new(along.key, &points);
    let up = up(unit, &points);
    let title = format!("{} by {}", subject(unit), along.key.replace('_', " "));
    let labels: Vec<String> = lines.iter().map(|line| line.label.clone()).collect();
    html! {
        figure {
            figcaption { (title) @if let Some(common) = common { small { (common) } } }
            (figure::key(&labels))
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" {
                title { (title) @if let Some(common) = common { ", " (common) } ": " (labels.join("; ")) }
                desc { (description(unit, lines)) }
                (figure::rows(&AREA, unit, &up, 6))
                (figure::columns(&AREA, &across.ticks()))
                @for (kind, line) in lines.iter().enumerate() { (draw(unit, kind, line, &across, &up)) }
            }
        }
    }
}

/// What values in a unit are.
pub(super) const fn subject(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "Latency",
        Unit::GigabytesPerSecond => "Bandwidth",
        Unit::Instructions => "Instructions",
    }
}

/// What a reader who cannot see the figure wants to know: where each line begins and ends.
fn description(unit: Unit, lines: &[Series]) -> String {
    let ends = lines.iter().filter_map(|line| Some((line, line.points.first()?, line.points.last()?)));
    let told = ends.map(|(line, first, last)| {
        let value = |point: &Point| format!("{} at {}", unit.show(point.median), point.size);
        format!("{}: {}, {}", line.label, value(first), value(last))
    });
    told.collect::<Vec<_>>().join("; ")
}

fn up(unit: Unit, points: &[&Point]) -> Scale {
    let (low, high) = range(points.iter().flat_map(|point| [point.interval.low, point.interval.high]));
    let places = (AREA.y.end, AREA.y.start);
    if unit == Unit::GigabytesPerSecond && high < CLOSE * low {
        Scale::linear((0.0, high * 1.05), places)
    } else {
        Scale::logarithmic((low / ROOM, high * ROOM), places)
    }
}

/// Where sizes lie: as numbers if all are, else side by side.
enum Across {
    Numbers { scale: Scale, bytes: bool },
    Names(Vec<String>),
}

impl Across {
    fn new(key: &str, points: &[&Point]) -> Self {
        let sizes: Option<Vec<u64>> = points.iter().map(|point| size::bytes(&point.size)).collect();
        if let Some(sizes) = sizes {
            let ends = range(sizes.iter().map(|bytes| *bytes as f64));
            let scale = Scale::logarithmic(ends, (AREA.x.start + 10.0, AREA.x.end - 10.0));
            return Self::Numbers { scale, bytes: key == "size" };
        }
        let mut names: Vec<String> = Vec::new();
        for point in points {
            if !names.contains(&point.size) {
                names.push(point.size.clone());
            }
        }
        Self::Names(names)
    }

    fn place(&self, text: &str) -> f64 {
        match self {
            Self::Numbers { scale, .. } => scale.place(size::bytes(text).map_or(f64::NAN, |bytes| bytes as f64)),
            Self::Names(names) => {
                let number = names.iter().position(|name| name == text).unwrap_or(0);
                let step = (AREA.x.end - AREA.x.start) / names.len().max(1) as f64;
                AREA.x.start + step * (number as f64 + 0.5)
            }
        }
    }

    fn ticks(&self) -> Vec<Tick> {
        match self {
            Self::Numbers { scale, bytes } => {
                let numbers = scale.binary_ticks(TEXTS).into_iter();
                let text = |number: f64| if *bytes { size::show(number) } else { number.to_string() };
                numbers.map(|number| Tick { at: scale.place(number), text: text(number) }).collect()
            }
            Self::Names(names) => {
                let letters = if names.len() > 4 { 8 } else { 12 };
                names.iter().map(|name| Tick { at: self.place(name), text: figure::cut(name, letters) }).collect()
            }
        }
    }
}

fn draw(unit: Unit, kind: usize, line: &Series, across: &Across, up: &Scale) -> Markup {
    let mut placed: Vec<(f64, &Point)> = line.points.iter().map(|point| (across.place(&point.size), point)).collect();
    placed.sort_by(|(one, _), (two, _)| one.total_cmp(two));
    let path: Vec<String> =
        placed.iter().map(|(x, point)| format!("{} {}", At(*x), At(up.place(point.median)))).collect();
    html! {
        g.{ "c" (kind % KINDS) } {
            path.line d={ "M" (path.join("L")) } {}
            @for (x, point) in &placed {
                g {
                    title {
                        (line.label) ", " (point.size) ": " (unit.show(point.median)) " ("
                        (measured::show(unit, Some(point.interval))) ")"
                    }
                    path.bar d=(bar(*x, up.place(point.interval.low), up.place(point.interval.high))) {}
                    path.mark d=(figure::mark(kind, *x, up.place(point.median))) {}
                }
            }
        }
    }
}

/// An interval: a line with an end on each side.
fn bar(x: f64, low: f64, high: f64) -> String {
    let (x, low, high) = (At(x), At(low), At(high));
    format!("M{x} {low}V{high}m-3 0h6M{x} {low}m-3 0h6")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Interval;

    fn line(points: &[(&str, f64)]) -> Series {
        let point = |(size, median): &(&str, f64)| Point {
            size: (*size).to_owned(),
            median: *median,
            interval: Interval { low: median * 0.9, high: median * 1.1 },
        };
        Series { label: "a <b>".to_owned(), points: points.iter().map(point).collect() }
    }

    fn drawn(unit: Unit, line: Series) -> String {
        let along = Along { key: "size", figures: vec![Figure { common: None, lines: vec![line] }] };
        figure(unit, &along, &along.figures[0]).into_string()
    }

    #[test]
    fn sizes_lie_by_their_bytes_in_any_order() {
        let drawn = drawn(Unit::Nanoseconds, line(&[("1 MiB", 10.0), ("64 KiB", 10.0), ("256 KiB", 10.0)]));
        let (_, line) = drawn.split_once("g class=\"c0\"><path class=\"line\" d=\"").unwrap();
        let (line, _) = line.split_once('"').unwrap();
        let places: Vec<&str> = line[1..].split('L').map(|place| place.split_once(' ').unwrap().0).collect();
        assert_eq!(places, ["72", "224", "376"]);
    }

    #[test]
    fn what_is_no_size_lies_side_by_side() {
        let drawn = drawn(Unit::Nanoseconds, line(&[("small", 1.0), ("a very long name", 1.0), ("1 MiB", 1.0)]));
        for text in [">small<", ">a very long…<", ">1 MiB<"] {
            assert!(drawn.contains(text), "{drawn}");
        }
    }

    #[test]
    fn texts_are_escaped_and_numbers_are_numbers() {
        let drawn = drawn(Unit::GigabytesPerSecond, line(&[("1 MiB", 0.0), ("2 MiB", -3.0), ("4 MiB", 1e300)]));
        assert!(drawn.contains("a &lt;b&gt;") && !drawn.contains("<b>"), "{drawn}");
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
    }

    #[test]
    fn rates_that_lie_close_together_are_drawn_from_zero() {
        let close = drawn(Unit::GigabytesPerSecond, line(&[("1 MiB", 100.0), ("2 MiB", 200.0)]));
        assert!(close.contains(">0<"), "{close}");
    }
}
