//! Results of `.ftz`.
//!
//! Which result is subnormal is decided after it is rounded, as if exponents had no end: what is a little less than the
//! smallest normal number may be rounded to that number, and then it stays. So does the code that NVIDIA's compiler
//! makes of `cvt.rn.ftz.f32.f64`.

use rustc_apfloat::Round;

use super::exact::{Operation, computed, converted, truncated};
use super::format::Format;

/// The result in a format of at most 32 bits, or a zero of its sign if it is subnormal.
pub(super) fn flushed(operation: Operation, from: Format, to: Format, round: Round, operands: [u64; 3]) -> u64 {
    let wide = operands.map(|operand| converted(from, Format::F64, Round::NearestTiesToEven, operand));
    let (truncated, is_exact) = truncated(operation, wide);
    let result = match operation {
        Operation::Itself => converted(from, to, round, operands[0]),
        _ => computed(operation, from, round, operands),
    };
    if is_tiny(to, round, truncated, is_exact) { result & to.sign() } else { to.flushed(result) }
}

/// Whether a number of `f64` and what was cut off from it is rounded to less than the smallest normal number.
fn is_tiny(format: Format, round: Round, truncated: f64, is_exact: bool) -> bool {
    let smallest = converted(format, Format::F64, Round::NearestTiesToEven, format.smallest_normal());
    let smallest = f64::from_bits(smallest);
    // Half of the distance between numbers just below the smallest normal one, and all of it.
    let half = smallest * f64::from_bits(u64::from(1023 - format.fraction_bits() - 2) << 52);
    let magnitude = truncated.abs();
    let away = match round {
        Round::TowardPositive => !truncated.is_sign_negative(),
        Round::TowardNegative => truncated.is_sign_negative(),
        _ => false,
    };
    match round {
        Round::NearestTiesToEven | Round::NearestTiesToAway => magnitude < smallest - half,
        _ if away => magnitude < smallest - 2.0 * half || is_exact && magnitude == smallest - 2.0 * half,
        _ => magnitude < smallest,
    }
}
