//! Numbers as PTX writes them.

use super::token::TokenKind;

/// The sort and length of the number at the start of `text`, which starts with a digit, or with a dot and a digit.
/// A number that is none is given back as its text.
pub(super) fn scan(text: &str) -> Result<(TokenKind, usize), &str> {
    let word = super::symbol_length(text);
    let (digits, kind) = match text.get(..2) {
        Some("0f" | "0F") if is_bits(&text[2..word], 8) => return Ok((TokenKind::Float, word)),
        Some("0d" | "0D") if is_bits(&text[2..word], 16) => return Ok((TokenKind::Float, word)),
        Some("0x" | "0X" | "0b" | "0B") => (word, TokenKind::Integer),
        _ => decimal(text),
    };
    let unsigned = usize::from(kind == TokenKind::Integer && digits < word && text[digits..word] == *"U");
    // What follows must not run on: `12abc` is no number and no two tokens either.
    let length = digits + unsigned;
    let wrong = super::symbol_length(&text[length..]);
    let is_number = wrong == 0 && (kind == TokenKind::Float || has_digits(&text[..length]));
    if is_number { Ok((kind, length)) } else { Err(&text[..length + wrong]) }
}

/// The value of an integer that [`scan`] took; `None` over 64 bits.
pub(super) fn integer(text: &str) -> Option<u64> {
    let (radix, digits) = radix(text);
    u64::from_str_radix(digits, radix).ok()
}

fn is_bits(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn has_digits(text: &str) -> bool {
    let (radix, digits) = radix(text);
    !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix))
}

/// The radix of an integer, and its digits without prefix and suffix.
fn radix(text: &str) -> (u32, &str) {
    let text = text.strip_suffix('U').unwrap_or(text);
    match text.get(..2) {
        Some("0x" | "0X") => (16, &text[2..]),
        Some("0b" | "0B") => (2, &text[2..]),
        Some(_) if text.starts_with('0') => (8, &text[1..]),
        _ => (10, text),
    }
}

/// The length and sort of a decimal number with optional fraction and exponent.
fn decimal(text: &str) -> (usize, TokenKind) {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(0);
    let mut length = whole;
    if bytes.get(length) == Some(&b'.') {
        let fraction = digits(length + 1);
        let goes_on = bytes.get(length + 1 + fraction).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
        // In `1.kind` the dot starts a suffix.
        if fraction > 0 || !goes_on {
            length += 1 + fraction;
        }
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        match digits((length + 1 + sign).min(bytes.len())) {
            0 => {}
            exponent => length += 1 + sign + exponent,
        }
    }
    (length, if length == whole { TokenKind::Integer } else { TokenKind::Float })
}
