//! Numbers as a person writes them: decimal, or the bits as `0x…`.

use peermap_driver::KernelArg;

/// A text that is no value of its type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no {kind}: expected {expected}")]
pub struct NumberError {
    text: String,
    kind: &'static str,
    expected: String,
}

/// The kinds of values that a kernel is given.
pub(super) const KINDS: [&str; 10] = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"];

/// A value of one of the [`KINDS`]; `None` if there is no such kind.
pub(super) fn value(kind: &str, text: &str) -> Option<Result<KernelArg, NumberError>> {
    Some(match kind {
        "u8" => byte(text).map(KernelArg::U8),
        "s8" => signed("s8", text, 8).map(|bits| KernelArg::I8(bits as i8)),
        "u16" => unsigned("u16", text, 16).map(|bits| KernelArg::U16(bits as u16)),
        "s16" => signed("s16", text, 16).map(|bits| KernelArg::I16(bits as i16)),
        "u32" => unsigned("u32", text, 32).map(|bits| KernelArg::U32(bits as u32)),
        "s32" => signed("s32", text, 32).map(|bits| KernelArg::I32(bits as i32)),
        "u64" => unsigned("u64", text, 64).map(KernelArg::U64),
        "s64" => signed("s64", text, 64).map(|bits| KernelArg::I64(bits.cast_signed())),
        "f32" => float("f32", text, 32, |bits| f32::from_bits(bits as u32)).map(KernelArg::F32),
        "f64" => float("f64", text, 64, f64::from_bits).map(KernelArg::F64),
        _ => return None,
    })
}

/// A value of one byte.
pub(super) fn byte(text: &str) -> Result<u8, NumberError> {
    unsigned("u8", text, 8).map(|bits| bits as u8)
}

/// What stands behind `0x`.
fn hexadecimal(text: &str) -> Option<&str> {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
}

/// Bits that are written as `0x…`; `None` if they are more than `width`.
fn bits(digits: &str, width: u32) -> Option<u64> {
    let is_plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let bits = is_plain.then(|| u64::from_str_radix(digits, 16).ok()).flatten()?;
    (bits <= u64::MAX >> (64 - width)).then_some(bits)
}

fn unsigned(kind: &'static str, text: &str, width: u32) -> Result<u64, NumberError> {
    let most = u64::MAX >> (64 - width);
    let number = match hexadecimal(text) {
        Some(digits) => bits(digits, width),
        None => text.parse().ok().filter(|number| *number <= most),
    };
    let expected = || format!("a number from 0 to {most}, decimal or as 0x…");
    number.ok_or_else(|| NumberError { text: text.to_owned(), kind, expected: expected() })
}

/// The bits of a signed number, in as many of the lower bits as it is wide.
fn signed(kind: &'static str, text: &str, width: u32) -> Result<u64, NumberError> {
    let (least, most) = (i64::MIN >> (64 - width), i64::MAX >> (64 - width));
    let number = match hexadecimal(text) {
        Some(digits) => bits(digits, width),
        None => {
            let number = text.parse().ok().filter(|number| (least..=most).contains(number));
            number.map(i64::cast_unsigned)
        }
    };
    let expected = || format!("a number from {least} to {most}, or its {width} bits as 0x…");
    number.ok_or_else(|| NumberError { text: text.to_owned(), kind, expected: expected() })
}

fn float<T: std::str::FromStr + Copy + Into<f64>>(
    kind: &'static str,
    text: &str,
    width: u32,
    of_bits: impl Fn(u64) -> T,
) -> Result<T, NumberError> {
    let number = match hexadecimal(text) {
        Some(digits) => bits(digits, width).map(of_bits),
        // What is too large for the type is read as infinite.
        None => text
            .parse()
            .ok()
            .filter(|number: &T| !(*number).into().is_infinite() || !text.bytes().any(|digit| digit.is_ascii_digit())),
    };
    let expected = || format!("a decimal number in its range, inf, -inf or nan, or its {width} bits as 0x…");
    number.ok_or_else(|| NumberError { text: text.to_owned(), kind, expected: expected() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(kind: &str, text: &str) -> Vec<u8> {
        value(kind, text).expect("a kind").expect("a value").to_bytes()
    }

    #[test]
    fn each_kind_has_its_width_and_both_ends_of_its_range() {
        for (kind, least, most) in [
            ("u8", "0", "255"),
            ("s8", "-128", "127"),
            ("u16", "0", "65535"),
            ("s16", "-32768", "32767"),
            ("u32", "0", "4294967295"),
            ("s32", "-2147483648", "2147483647"),
            ("u64", "0", "18446744073709551615"),
            ("s64", "-9223372036854775808", "9223372036854775807"),
        ] {
            let width = kind[1..].parse::<usize>().unwrap() / 8;
            let sign = u8::from(kind.starts_with('s')) << 7;
            let with_top = |rest: u8, top: u8| [vec![rest; width - 1], vec![top]].concat();
            assert_eq!(bytes(kind, least), with_top(0, sign), "{kind}");
            assert_eq!(bytes(kind, most), with_top(0xFF, 0xFF ^ sign), "{kind}");
        }
        assert_eq!(bytes("f32", "1.5"), 1.5_f32.to_le_bytes());
        assert_eq!(bytes("f64", "-2e-3"), (-2e-3_f64).to_le_bytes());
    }

    #[test]
    fn hexadecimal_numbers_are_bits() {
        assert_eq!(bytes("s32", "0xfffffffe"), (-2_i32).to_le_bytes());
        assert_eq!(bytes("u16", "0X1F"), 31_u16.to_le_bytes());
        assert_eq!(bytes("f32", "0x7fc00001"), 0x7fc0_0001_u32.to_le_bytes());
        assert_eq!(bytes("f64", "0x3ff0000000000000"), 1.0_f64.to_le_bytes());
    }

    #[test]
    fn floats_have_no_end_or_are_no_number() {
        assert_eq!(bytes("f32", "-inf"), f32::NEG_INFINITY.to_le_bytes());
        assert_eq!(bytes("f64", "inf"), f64::INFINITY.to_le_bytes());
        assert_eq!(
            value("f32", "nan").unwrap().map(|value| matches!(value, KernelArg::F32(it) if it.is_nan())),
            Ok(true)
        );
    }

    #[test]
    fn what_does_not_fit_says_what_would() {
        for (kind, text, expected) in [
            ("u8", "256", "from 0 to 255"),
            ("u8", "-1", "from 0 to 255"),
            ("u8", "0x100", "from 0 to 255"),
            ("s8", "128", "from -128 to 127"),
            ("s16", "0x10000", "its 16 bits"),
            ("u32", "1.0", "from 0 to 4294967295"),
            ("u32", "0x", "as 0x"),
            ("u32", "0x+1", "as 0x"),
            ("u64", "18446744073709551616", "from 0 to 18446744073709551615"),
            ("s64", "", "from -9223372036854775808"),
            ("f32", "one", "inf, -inf or nan"),
            ("f32", "0x100000000", "its 32 bits"),
        ] {
            let error = value(kind, text).unwrap().unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains(kind), "{error}");
        }
        assert_eq!(value("u128", "1"), None);
    }
}
