//! The smaller and the larger of numbers in memory, of `multimem`.

use peermap_ptx::FloatType;

use super::format::Format;
use super::sum::elementwise;

/// The smaller or the larger of two values of a type, element by element. -0.0 is less than 0.0, and of two of which one is NaN
/// it is the other.
pub(crate) fn extreme(ty: FloatType, largest: bool, a: u64, b: u64) -> u64 {
    elementwise(ty, a, b, |format, a, b| match (format.is_nan(a), format.is_nan(b)) {
        (true, true) => format.nan(),
        (true, false) => b,
        (false, true) => a,
        (false, false) if (rank(format, a) > rank(format, b)) == largest => a,
        (false, false) => b,
    })
}

/// Grows with the number.
fn rank(format: Format, number: u64) -> i64 {
    let magnitude = (number & format.magnitude()).cast_signed();
    if number & format.sign() == 0 { magnitude } else { -1 - magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ordered_by_value_and_zeros_by_sign() {
        let [one, two, minus_one, zero, minus_zero, nan] = [0x3C00, 0x4000, 0xBC00, 0, 0x8000, 0x7E00];
        for (a, b, smaller, larger) in [
            (one, two, one, two),
            (minus_one, one, minus_one, one),
            (zero, minus_zero, minus_zero, zero),
            (nan, one, one, one),
            (one, nan, one, one),
            (nan, nan, 0x7FFF, 0x7FFF),
        ] {
            let found = [false, true].map(|largest| extreme(FloatType::F16, largest, a, b));
            assert_eq!(found, [smaller, larger], "{a:#x} {b:#x}");
        }
    }

    #[test]
    fn each_half_of_a_word_is_for_itself() {
        assert_eq!(extreme(FloatType::Bf16x2, true, 0x3F80_4000, 0x4040_BF80), 0x4040_4000);
    }
}
