//! Sums in memory, of `atom.add` and `red.add`.

use peermap_ptx::FloatType;
use rustc_apfloat::Round;

use super::exact::{Operation, computed};
use super::format::Format;

/// The sum of two values of a type, rounded to nearest, element by element; with `flush`, subnormal numbers are zero.
pub(crate) fn sum(ty: FloatType, flush: bool, a: u64, b: u64) -> u64 {
    let format = Format::of(ty);
    let width = format.bits();
    let element = |word: u64, place: u32| word >> (place * width) & (u64::MAX >> (64 - width));
    let count = ty.bits() / width;
    (0..count).map(|place| sum_of_two(format, flush, element(a, place), element(b, place)) << (place * width)).sum()
}

fn sum_of_two(format: Format, flush: bool, a: u64, b: u64) -> u64 {
    let seen = |number| if flush { format.flushed(number) } else { number };
    let (a, b) = (seen(a), seen(b));
    let result = match format {
        Format::F32 => u64::from((f32::from_bits(a as u32) + f32::from_bits(b as u32)).to_bits()),
        Format::F64 => (f64::from_bits(a) + f64::from_bits(b)).to_bits(),
        half => computed(Operation::Sum, half, Round::NearestTiesToEven, [a, b, 0]),
    };
    if format.is_nan(result) { nan_of(format, &[a, b]) } else { seen(result) }
}

/// The NaN that a result is: for `f64` that of the first operand that is one, made quiet.
fn nan_of(format: Format, operands: &[u64]) -> u64 {
    let first = operands.iter().find(|operand| format == Format::F64 && format.is_nan(**operand));
    first.map_or(format.nan(), |operand| operand | format.quiet())
}
