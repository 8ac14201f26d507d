//! Arithmetic of halves to nearest, by way of `f64`, in which their products are exact.

use super::exact::Operation;
use super::format::Format;

/// The result, rounded to the format of the operands.
pub(super) fn computed(operation: Operation, format: Format, operands: [u64; 3]) -> u64 {
    let [a, b, c] = operands.map(|operand| widened(format, operand));
    let result = match operation {
        Operation::Sum => odd_sum(a, b),
        Operation::Difference => odd_sum(a, -b),
        Operation::Product => a * b,
        Operation::FusedProduct => odd_sum(a * b, c),
        // More than twice as many bits are rounded once more to the same.
        Operation::Quotient => a / b,
        Operation::Itself => a,
    };
    narrowed(format, result)
}

fn widened(format: Format, number: u64) -> f64 {
    /// 2 to the power of 112, by how much the exponents of an `f16` and an `f32` differ.
    const SCALE: f32 = f32::from_bits((127 + 112) << 23);
    let number = number as u32;
    let single = match format {
        Format::Bf16 => f32::from_bits(number << 16),
        _ if number & 0x7C00 == 0x7C00 => {
            f32::from_bits((number & 0x8000) << 16 | 0x7F80_0000 | (number & 0x3FF) << 13)
        }
        _ => f32::from_bits((number & 0x8000) << 16 | (number & 0x7FFF) << 13) * SCALE,
    };
    single.into()
}

/// A sum. Where it is not exact, its last bit is made odd, so that it lies on the right side of whatever is rounded to
/// next.
fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // What the sum lacks, after Knuth.
    let second = sum - a;
    let error = (a - (sum - second)) + (b - second);
    if error == 0.0 || error.is_nan() {
        return sum;
    }
    let is_larger = error.is_sign_negative() != sum.is_sign_negative();
    f64::from_bits((sum.to_bits() - u64::from(is_larger)) | 1)
}

fn narrowed(format: Format, number: f64) -> u64 {
    let wide = Format::F64;
    if number.is_nan() {
        return format.nan();
    }
    let dropped = wide.fraction_bits() - format.fraction_bits();
    let magnitude = number.abs().to_bits();
    let first = wide.bias() + 1 - format.bias();
    let rounded = if magnitude < first << wide.fraction_bits() {
        // The last bit of this number is worth as much as that of a subnormal half: the host rounds a sum with it so.
        let unit = f64::from_bits((first + u64::from(dropped)) << wide.fraction_bits());
        (number.abs() + unit).to_bits() - unit.to_bits()
    } else {
        // The exponent is moved to that of the half, and half of its last bit is added: less by one where that is even.
        let moved = magnitude - ((wide.bias() - format.bias()) << wide.fraction_bits());
        let raised = moved + (1 << (dropped - 1)) - 1 + (moved >> dropped & 1);
        (raised >> dropped).min(format.infinity())
    };
    rounded | if number.is_sign_negative() { format.sign() } else { 0 }
}
