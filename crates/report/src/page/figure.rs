//! What figures are made of: frames with axes, marks, and numbers that a drawing may hold.

use std::fmt;
use std::ops::Range;

use maud::{Markup, html};

use super::scale::Scale;
use crate::bench::Unit;

/// How wide a figure is drawn. It is scaled to its column, which is about as wide, so that texts keep their size.
pub(super) const WIDTH: f64 = 400.0;
/// About how wide a letter of an axis is.
const LETTER: f64 = 6.2;
/// How far texts below the area may leave it on its right.
pub(super) const MARGIN: f64 = 14.0;
/// The size of a mark, from its middle.
const MARK: f64 = 3.6;

/// How many kinds of marks and colours there are, and so how many lines fit a figure.
pub(super) const KINDS: usize = 6;

/// A place in a drawing: one decimal is finer than a screen. What is no number lies at 0, since a drawing cannot hold it.
#[derive(Debug, Clone, Copy)]
pub(super) struct At(pub(super) f64);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = if self.0.is_finite() { (self.0 * 10.0).round() as i64 } else { 0 };
        let sign = if tenths < 0 { "-" } else { "" };
        match (tenths.abs() / 10, tenths.abs() % 10) {
            (whole, 0) => write!(f, "{sign}{whole}"),
            (whole, rest) => write!(f, "{sign}{whole}.{rest}"),
        }
    }
}

/// The box that axes enclose, in the drawing's own units.
#[derive(Debug, Clone)]
pub(super) struct Area {
    pub(super) x: Range<f64>,
    pub(super) y: Range<f64>,
}

/// A value and the text that stands beside its axis.
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) text: String,
}

/// A round value without the zeros that say nothing: `10 us`, `2000`. Rates and counts have their unit above the axis.
pub(super) fn short(unit: Unit, value: f64) -> String {
    let shown = match unit {
        Unit::Instructions if value >= 1e6 => format!("{:.2} M", value / 1e6),
        Unit::Instructions if value >= 1e3 => format!("{:.2} k", value / 1e3),
        _ => unit.show(value),
    };
    let (number, word) = shown.split_once(' ').unwrap_or((&shown, ""));
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    match unit {
        Unit::GigabytesPerSecond => number.to_owned(),
        Unit::Instructions => format!("{number} {}", word.trim_start_matches("instructions")).trim().to_owned(),
        Unit::Nanoseconds => format!("{number} {word}"),
    }
}

/// The same with the unit, for texts that stand alone.
pub(super) fn short_with_unit(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Nanoseconds => short(unit, value),
        Unit::GigabytesPerSecond | Unit::Instructions => format!("{} {unit}", short(unit, value)),
    }
}

/// What the values of an axis are, where the texts beside it do not say it.
const fn quantity(unit: Unit) -> Option<&'static str> {
    match unit {
        Unit::Nanoseconds => None,
        Unit::GigabytesPerSecond => Some("GB/s"),
        Unit::Instructions => Some("instructions"),
    }
}

/// The horizontal lines of about `count` values, with their texts to the left of the area, and their unit above them.
pub(super) fn rows(area: &Area, unit: Unit, scale: &Scale, count: usize) -> Markup {
    html! {
        @if let Some(quantity) = quantity(unit) {
            text.tick.end x=(At(area.x.start - 6.0)) y=(At(area.y.start - 9.0)) { (quantity) }
        }
        @for value in scale.ticks(count) {
            @let y = scale.place(value);
            path.grid d={ "M" (At(area.x.start)) " " (At(y)) "H" (At(area.x.end)) } {}
            text.tick.end x=(At(area.x.start - 6.0)) y=(At(y + 3.5)) { (short(unit, value)) }
        }
    }
}

/// The texts below the area. One that would leave the drawing is moved inside, and one that would touch the last is left out.
pub(super) fn columns(area: &Area, ticks: &[Tick]) -> Markup {
    let mut free = f64::NEG_INFINITY;
    html! {
        path.axis d={ "M" (At(area.x.start)) " " (At(area.y.end)) "H" (At(area.x.end)) } {}
        @for tick in ticks {
            @let half = width(&tick.text) / 2.0;
            @let middle = tick.at.min(area.x.end + MARGIN - half).max(half);
            path.axis d={ "M" (At(tick.at)) " " (At(area.y.end)) "v4" } {}
            @if middle - half >= free {
                text.tick.middle x=(At(middle)) y=(At(area.y.end + 16.0)) { (tick.text) }
                @let () = free = middle + half + LETTER;
            }
        }
    }
}

/// About how wide a text beside an axis is.
pub(super) fn width(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER
}

/// A text of at most `letters` letters.
pub(super) fn cut(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    text.chars().take(letters.saturating_sub(1)).chain(['…']).collect()
}

/// A mark at a place. Its kind gives it a shape as well as a colour, so that nobody has to tell colours apart.
pub(super) fn mark(kind: usize, x: f64, y: f64) -> String {
    let (x, y, r) = (At(x), At(y), MARK);
    let (wide, long) = (At(2.0 * r), At(1.25 * r));
    match kind % KINDS {
        0 => format!("M{x} {y}m-{r} 0a{r} {r} 0 1 0 {wide} 0a{r} {r} 0 1 0 -{wide} 0z"),
        1 => format!("M{x} {y}m-{r} -{r}h{wide}v{wide}h-{wide}z"),
        2 => format!("M{x} {y}m0 -{long}l{long} {wide}h-{}z", At(2.5 * r)),
        3 => format!("M{x} {y}m0 -{long}l{long} {long}l-{long} {long}l-{long} -{long}z"),
        4 => format!("M{x} {y}m0 {long}l{long} -{wide}h-{}z", At(2.5 * r)),
        _ => format!("M{x} {y}m-{r} -1.2h2.4v-2.4h2.4v2.4h2.4v2.4h-2.4v2.4h-2.4v-2.4h-2.4z"),
    }
}

/// What the marks stand for.
pub(super) fn key(labels: &[String]) -> Markup {
    html! {
        ul.key {
            @for (kind, label) in labels.iter().enumerate() {
                li.{ "c" (kind % KINDS) } {
                    svg viewBox="0 0 24 12" width="24" height="12" aria-hidden="true" {
                        path.line d="M0 6H24" {}
                        path.mark d=(mark(kind, 12.0, 6.0)) {}
                    }
                    " " (label)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_one_decimal_and_are_numbers() {
        let shown = [1.0, 1.26, -0.04, -3.5, f64::NAN, f64::INFINITY].map(|value| At(value).to_string());
        assert_eq!(shown, ["1", "1.3", "0", "-3.5", "0", "0"]);
    }

    #[test]
    fn ticks_have_no_zeros_that_say_nothing() {
        assert_eq!(short(Unit::Nanoseconds, 10_000.0), "10 us");
        assert_eq!(short(Unit::Nanoseconds, 500.0), "500 ns");
        assert_eq!(short(Unit::GigabytesPerSecond, 2000.0), "2000");
        assert_eq!(short(Unit::GigabytesPerSecond, 0.5), "0.5");
        assert_eq!(short(Unit::Instructions, 20_000.0), "20 k");
        assert_eq!(short(Unit::Instructions, 20.0), "20");
    }

    #[test]
    fn long_texts_are_cut_by_letters() {
        assert_eq!(cut("größer", 6), "größer");
        assert_eq!(cut("größere", 6), "größe…");
    }

    #[test]
    fn texts_below_an_axis_do_not_touch() {
        let area = Area { x: 0.0..WIDTH, y: 0.0..10.0 };
        let ticks = [0.0, 10.0, 100.0].map(|at| Tick { at, text: "64 KiB".to_owned() });
        let drawn = columns(&area, &ticks).into_string();
        assert_eq!(drawn.matches("<text").count(), 2, "{drawn}");
    }

    #[test]
    fn every_kind_of_mark_has_a_shape_of_its_own() {
        let shapes: std::collections::BTreeSet<String> = (0..KINDS).map(|kind| mark(kind, 1.0, 1.0)).collect();
        assert_eq!(shapes.len(), KINDS);
    }
}
