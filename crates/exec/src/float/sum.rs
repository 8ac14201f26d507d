//! Sums in memory, of `atom.add`, `red.add` and `multimem`.

use peermap_ptx::FloatType;
use rustc_apfloat::Round;

use super::exact::{Operation, computed, converted};
use super::format::Format;

/// The sum of two values of a type, rounded to nearest, element by element; with `flush`, subnormal numbers are zero.
pub(crate) fn sum(ty: FloatType, flush: bool, a: u64, b: u64) -> u64 {
    elementwise(ty, a, b, |format, a, b| sum_of_two(format, flush, a, b))
}

/// The sum of halves, made in `f32` one after the other and rounded once, element by element.
pub(crate) fn wide_sum(ty: FloatType, words: &[u64]) -> u64 {
    let single = |format, element| f32::from_bits(converted(format, Format::F32, NEAREST, element) as u32);
    let format = Format::of(ty);
    let elements = (0..ty.bits()).step_by(format.bits() as usize).map(|place| {
        let numbers = words.iter().map(|word| single(format, element(format, *word, place)));
        let sum = numbers.reduce(|sum, number| sum + number).unwrap_or(0.0);
        let rounded =
            if sum.is_nan() { format.nan() } else { converted(Format::F32, format, NEAREST, sum.to_bits().into()) };
        rounded << place
    });
    elements.sum()
}

const NEAREST: Round = Round::NearestTiesToEven;

/// The bits from a place on that are one number.
fn element(format: Format, word: u64, place: u32) -> u64 {
    word >> place & (u64::MAX >> (64 - format.bits()))
}

/// What `join` makes of two values, element by element.
pub(super) fn elementwise(ty: FloatType, a: u64, b: u64, join: impl Fn(Format, u64, u64) -> u64) -> u64 {
    let format = Format::of(ty);
    let places = (0..ty.bits()).step_by(format.bits() as usize);
    places.map(|place| join(format, element(format, a, place), element(format, b, place)) << place).sum()
}

fn sum_of_two(format: Format, flush: bool, a: u64, b: u64) -> u64 {
    let seen = |number| if flush { format.flushed(number) } else { number };
    let (a, b) = (seen(a), seen(b));
    let result = match format {
        Format::F32 => u64::from((f32::from_bits(a as u32) + f32::from_bits(b as u32)).to_bits()),
        Format::F64 => (f64::from_bits(a) + f64::from_bits(b)).to_bits(),
        half => computed(Operation::Sum, half, NEAREST, [a, b, 0]),
    };
    if format.is_nan(result) { nan_of(format, &[a, b]) } else { seen(result) }
}

/// The NaN that a result is: for `f64` that of the first operand that is one, made quiet.
fn nan_of(format: Format, operands: &[u64]) -> u64 {
    let first = operands.iter().find(|operand| format == Format::F64 && format.is_nan(**operand));
    first.map_or(format.nan(), |operand| operand | format.quiet())
}
