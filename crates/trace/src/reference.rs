//! References to values of earlier steps, and numbers written as text.

use std::fmt;

/// A reference to the value of an earlier step: `$name`, `$name+4096`, `$name-0x200000`.
///
/// # Units
/// The offset counts bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reference<'a> {
    /// The name that the value got.
    pub name: &'a str,
    /// What is added to it, if it is an address.
    pub offset: i128,
}

impl<'a> Reference<'a> {
    /// Whether a text is meant to be a reference.
    #[must_use]
    pub fn is_meant(text: &str) -> bool {
        text.starts_with('$')
    }

    /// Reads a reference. `None`: the text is none, or a malformed one.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let rest = text.strip_prefix('$')?;
        let end = rest.find(['+', '-']).unwrap_or(rest.len());
        let (name, offset) = rest.split_at(end);
        let offset = match offset.split_at_checked(1) {
            None => 0,
            Some(("-", digits)) => -i128::from(parse_number(digits)?),
            Some((_, digits)) => i128::from(parse_number(digits)?),
        };
        is_name(name).then_some(Self { name, offset })
    }
}

impl fmt::Display for Reference<'_> {
    /// Writes the offset always, as `out` values have it: `$v0+0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}{:+}", self.name, self.offset)
    }
}

/// Whether a text can be the name of a value: letters, digits and `_`, no digit first.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Reads a number in decimal digits, or in hexadecimal ones after `0x`.
pub(crate) fn parse_number(text: &str) -> Option<u64> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |hex| (hex, 16));
    // The standard parser takes a sign, which the format does not have here.
    digits.chars().all(|c| c.is_digit(radix)).then(|| u64::from_str_radix(digits, radix).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_have_a_name_and_a_signed_offset() {
        let read = [("$v0", "v0", 0), ("$v0+0", "v0", 0), ("$v_1+4096", "v_1", 4096), ("$a-0x200000", "a", -0x20_0000)];
        for (text, name, offset) in read {
            assert_eq!(Reference::parse(text), Some(Reference { name, offset }), "{text}");
        }
    }

    #[test]
    fn malformed_references_are_none() {
        for text in ["", "v0", "$", "$+1", "$0v", "$v 0", "$v+", "$v++1", "$v+-1", "$v+1x", "$v+99999999999999999999"] {
            assert_eq!(Reference::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_reference_is_written_with_its_offset() {
        assert_eq!(Reference { name: "v0", offset: 0 }.to_string(), "$v0+0");
        assert_eq!(Reference { name: "v0", offset: 4096 }.to_string(), "$v0+4096");
    }

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        assert_eq!(parse_number("4096"), Some(4096));
        assert_eq!(parse_number("0x1000"), Some(4096));
        assert_eq!(parse_number("0xffffffffffffffff"), Some(u64::MAX));
        for text in ["", "0x", "+1", "-1", "0x+1", "1e3", " 1"] {
            assert_eq!(parse_number(text), None, "{text:?}");
        }
    }
}
