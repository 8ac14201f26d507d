//! Numbers as `printf` writes them.

use super::print::Spec;

/// An integer of so many bits: `%d`, `%i`, `%u`, `%o`, `%x` and `%X`.
pub(crate) fn integer(letter: u8, spec: Spec, raw: u64, bits: u32) -> String {
    let value = raw << (64 - bits) >> (64 - bits);
    let number = (raw << (64 - bits)).cast_signed() >> (64 - bits);
    let (sign, digits) = match letter {
        b'd' | b'i' => (sign_of(spec, number < 0), number.unsigned_abs().to_string()),
        b'o' => ("", format!("{value:o}")),
        b'x' => (if spec.alternate && value != 0 { "0x" } else { "" }, format!("{value:x}")),
        b'X' => (if spec.alternate && value != 0 { "0X" } else { "" }, format!("{value:X}")),
        _ => ("", value.to_string()),
    };
    let digits = match spec.precision {
        Some(0) if value == 0 => String::new(),
        Some(least) => format!("{digits:0>least$}"),
        None => digits,
    };
    let digits =
        if letter == b'o' && spec.alternate && !digits.starts_with('0') { format!("0{digits}") } else { digits };
    // With a precision, `0` says nothing.
    padded(Spec { zero: spec.zero && spec.precision.is_none(), ..spec }, sign, &digits)
}

/// A sign or a prefix and digits, in a field.
pub(crate) fn padded(spec: Spec, sign: &str, digits: &str) -> String {
    let missing = spec.width.saturating_sub(sign.len() + digits.len());
    match (spec.left, spec.zero) {
        (true, _) => format!("{sign}{digits}{:missing$}", ""),
        (false, true) => format!("{sign}{:0>missing$}{digits}", ""),
        (false, false) => format!("{:missing$}{sign}{digits}", ""),
    }
}

fn sign_of(spec: Spec, negative: bool) -> &'static str {
    match (negative, spec.plus, spec.blank) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

/// A number: `%f`, `%e`, `%g` and `%a`, small or large.
pub(crate) fn float(letter: u8, spec: Spec, value: f64) -> String {
    let sign = sign_of(spec, value.is_sign_negative());
    let magnitude = value.abs();
    let (sign, digits, zero) = match (magnitude.is_finite(), letter.to_ascii_lowercase()) {
        (false, _) => (sign.to_owned(), if value.is_nan() { "nan" } else { "inf" }.to_owned(), false),
        (true, b'f') => (sign.to_owned(), fixed(magnitude, spec.precision.unwrap_or(6), spec.alternate), spec.zero),
        (true, b'e') => {
            (sign.to_owned(), scientific(magnitude, spec.precision.unwrap_or(6), spec.alternate), spec.zero)
        }
        (true, b'g') => (sign.to_owned(), general(magnitude, spec), spec.zero),
        (true, _) => (format!("{sign}0x"), hexadecimal(magnitude, spec), spec.zero),
    };
    let text = padded(Spec { zero, ..spec }, &sign, &digits);
    if letter.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text }
}

fn fixed(value: f64, precision: usize, alternate: bool) -> String {
    let point = if alternate && precision == 0 { "." } else { "" };
    format!("{value:.precision$}{point}")
}

fn scientific(value: f64, precision: usize, alternate: bool) -> String {
    let (digits, exponent) = parts(value, precision);
    let point = if alternate && precision == 0 { "." } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}{point}e{sign}{:02}", exponent.unsigned_abs())
}

/// The digits of a number with one before the point, and its exponent of ten.
fn parts(value: f64, precision: usize) -> (String, i32) {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_owned(), exponent.parse().unwrap_or(0))
}

fn general(value: f64, spec: Spec) -> String {
    let precision = spec.precision.unwrap_or(6).max(1);
    let (_, exponent) = parts(value, precision - 1);
    let places = i64::try_from(precision).unwrap_or(i64::MAX) - 1 - i64::from(exponent);
    let is_fixed = places >= 0 && exponent >= -4;
    let text = match usize::try_from(places) {
        Ok(places) if is_fixed => fixed(value, places, spec.alternate),
        _ => scientific(value, precision - 1, spec.alternate),
    };
    if spec.alternate { text } else { without_zeros(&text) }
}

/// Without the zeros at the end of the fraction.
fn without_zeros(text: &str) -> String {
    let (digits, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
    let kept = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    format!("{kept}{exponent}")
}

/// What stands behind `0x`: a digit, a fraction in base 16, and an exponent of two.
fn hexadecimal(value: f64, spec: Spec) -> String {
    const FRACTION_BITS: u32 = 52;
    const DIGITS: usize = 13;
    let (fraction, biased) = (value.to_bits() & ((1 << FRACTION_BITS) - 1), value.to_bits() >> FRACTION_BITS);
    let (mut whole, exponent) = match (biased, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (fraction, -1022),
        _ => (1 << FRACTION_BITS | fraction, biased as i32 - 1023),
    };
    if let Some(precision) = spec.precision.filter(|precision| *precision < DIGITS) {
        let dropped = 4 * (DIGITS - precision) as u32;
        let (half, odd) = (1_u64 << (dropped - 1), whole >> dropped & 1);
        whole = (whole + half - 1 + odd) >> dropped << dropped;
    }
    let (first, fraction) = (whole >> FRACTION_BITS, whole & ((1 << FRACTION_BITS) - 1));
    let digits = format!("{fraction:013x}");
    let digits = match spec.precision {
        Some(precision) => format!("{:0<precision$}", &digits[..precision.min(DIGITS)]),
        None => digits.trim_end_matches('0').to_owned(),
    };
    let point = if digits.is_empty() && !spec.alternate { "" } else { "." };
    format!("{first}{point}{digits}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(width: usize, precision: Option<usize>) -> Spec {
        Spec { width, precision, ..Spec::default() }
    }

    #[test]
    fn integers_are_those_of_the_c_library() {
        let zero = Spec { zero: true, ..spec(6, None) };
        for (letter, spec, raw, bits, expected) in [
            (b'd', spec(0, None), u64::MAX, 32, "-1"),
            (b'd', spec(0, None), 0x8000_0000, 32, "-2147483648"),
            (b'u', spec(0, None), u64::MAX, 64, "18446744073709551615"),
            (b'd', zero, 0xFFFF_FFD6, 32, "-00042"),
            (b'd', Spec { left: true, ..spec(5, None) }, 42, 32, "42   "),
            (b'd', Spec { plus: true, ..spec(5, Some(3)) }, 42, 32, " +042"),
            (b'd', spec(0, Some(0)), 0, 32, ""),
            (b'x', Spec { alternate: true, ..zero }, 0xAB, 32, "0x00ab"),
            (b'X', Spec { alternate: true, ..spec(0, None) }, 0xAB, 32, "0XAB"),
            (b'o', Spec { alternate: true, ..spec(0, None) }, 8, 32, "010"),
            (b'd', spec(0, None), 0x1_FF80, 8, "-128"),
        ] {
            assert_eq!(integer(letter, spec, raw, bits), expected);
        }
    }

    #[test]
    fn numbers_are_those_of_the_c_library() {
        let alternate = Spec { alternate: true, ..Spec::default() };
        for (letter, spec, value, expected) in [
            (b'f', spec(0, None), 1.5, "1.500000"),
            (b'f', spec(8, Some(2)), -2.345, "   -2.35"),
            (b'f', Spec { zero: true, ..spec(9, Some(2)) }, -2.5, "-00002.50"),
            (b'f', spec(0, Some(0)), 2.5, "2"),
            (b'e', spec(0, None), 12345.678, "1.234568e+04"),
            (b'E', spec(0, Some(2)), 0.000_012_3, "1.23E-05"),
            (b'e', spec(0, None), 0.0, "0.000000e+00"),
            (b'g', spec(0, None), 100_000.0, "100000"),
            (b'g', spec(0, None), 1_000_000.0, "1e+06"),
            (b'g', spec(0, None), 0.0001, "0.0001"),
            (b'g', spec(0, None), 0.000_012_345, "1.2345e-05"),
            (b'g', alternate, 1.5, "1.50000"),
            (b'g', spec(0, Some(3)), 999.9, "1e+03"),
            (b'a', spec(0, None), 1.0, "0x1p+0"),
            (b'a', spec(0, None), -0.1, "-0x1.999999999999ap-4"),
            (b'a', spec(0, Some(2)), 1.999, "0x2.00p+0"),
            (b'A', spec(0, Some(1)), 255.0, "0X2.0P+7"),
            (b'a', spec(0, None), 5e-324, "0x0.0000000000001p-1022"),
            (b'f', Spec { zero: true, ..spec(6, None) }, f64::INFINITY, "   inf"),
            (b'F', spec(0, None), f64::NAN, "NAN"),
        ] {
            assert_eq!(float(letter, spec, value), expected, "{value} {}", letter as char);
        }
    }
}
