//! Results that are exact before they are rounded.

use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round, Status, StatusAnd};

use super::format::Format;

/// What is computed of up to three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Sum,
    Difference,
    Product,
    FusedProduct,
    Quotient,
    /// The first operand.
    Itself,
}

/// The result, rounded to the format of the operands.
pub(super) fn computed(operation: Operation, format: Format, round: Round, operands: [u64; 3]) -> u64 {
    match format {
        Format::F16 => computed_in::<Half>(operation, round, operands),
        Format::Bf16 => computed_in::<BFloat>(operation, round, operands),
        Format::F32 => computed_in::<Single>(operation, round, operands),
        Format::F64 => computed_in::<Double>(operation, round, operands),
    }
}

fn computed_in<F: Float>(operation: Operation, round: Round, operands: [u64; 3]) -> u64 {
    bits(result_in::<F>(operation, round, operands).value)
}

fn result_in<F: Float>(operation: Operation, round: Round, operands: [u64; 3]) -> StatusAnd<F> {
    let [a, b, c] = operands.map(|bits| F::from_bits(bits.into()));
    match operation {
        Operation::Sum => a.add_r(b, round),
        Operation::Difference => a.sub_r(b, round),
        Operation::Product => a.mul_r(b, round),
        Operation::FusedProduct => a.mul_add_r(b, c, round),
        Operation::Quotient => a.div_r(b, round),
        Operation::Itself => Status::OK.and(a),
    }
}

/// The result in `f64`, towards zero, and whether that is all of it.
pub(super) fn truncated(operation: Operation, operands: [u64; 3]) -> (f64, bool) {
    let result = result_in::<Double>(operation, Round::TowardZero, operands);
    (f64::from_bits(bits(result.value)), !result.status.contains(Status::INEXACT))
}

/// No format has more than 64 bits.
fn bits<F: Float>(number: F) -> u64 {
    number.to_bits() as u64
}

/// A number in another format.
pub(super) fn converted(from: Format, to: Format, round: Round, number: u64) -> u64 {
    match from {
        Format::F16 => converted_from::<Half>(to, round, number),
        Format::Bf16 => converted_from::<BFloat>(to, round, number),
        Format::F32 => converted_from::<Single>(to, round, number),
        Format::F64 => converted_from::<Double>(to, round, number),
    }
}

fn converted_from<F>(to: Format, round: Round, number: u64) -> u64
where
    F: Float + FloatConvert<Half> + FloatConvert<BFloat> + FloatConvert<Single> + FloatConvert<Double>,
{
    let (number, mut loses) = (F::from_bits(number.into()), false);
    match to {
        Format::F16 => bits(FloatConvert::<Half>::convert_r(number, round, &mut loses).value),
        Format::Bf16 => bits(FloatConvert::<BFloat>::convert_r(number, round, &mut loses).value),
        Format::F32 => bits(FloatConvert::<Single>::convert_r(number, round, &mut loses).value),
        Format::F64 => bits(FloatConvert::<Double>::convert_r(number, round, &mut loses).value),
    }
}

/// An integer as a number.
pub(super) fn of_integer(integer: i128, to: Format, round: Round) -> u64 {
    match to {
        Format::F16 => bits(Half::from_i128_r(integer, round).value),
        Format::Bf16 => bits(BFloat::from_i128_r(integer, round).value),
        Format::F32 => bits(Single::from_i128_r(integer, round).value),
        Format::F64 => bits(Double::from_i128_r(integer, round).value),
    }
}

/// The square root of an `f32` or an `f64`: that of the host, moved to the side that the rounding asks for.
pub(super) fn root(format: Format, round: Round, number: u64) -> u64 {
    let nearest = Round::NearestTiesToEven;
    let wide = f64::from_bits(converted(format, Format::F64, nearest, number));
    let root = directed_root(wide, round);
    converted(Format::F64, format, round, root.to_bits())
}

fn directed_root(number: f64, round: Round) -> f64 {
    /// From here on downwards the square of a root misses bits; 2 to the power of -900.
    const SMALL: f64 = f64::from_bits((1023 - 900) << 52);
    /// 2 to the powers of 200 and -100.
    const UP: f64 = f64::from_bits((1023 + 200) << 52);
    const DOWN: f64 = f64::from_bits((1023 - 100) << 52);
    let small = number < SMALL;
    let scaled = if small { number * UP } else { number };
    let root = scaled.sqrt();
    // Exact but for its size: whether the root is too large, too small or right.
    let excess = root.mul_add(root, -scaled);
    let root = match round {
        Round::TowardZero | Round::TowardNegative if excess > 0.0 => root.next_down(),
        Round::TowardPositive if excess < 0.0 => root.next_up(),
        _ => root,
    };
    if small { root * DOWN } else { root }
}
