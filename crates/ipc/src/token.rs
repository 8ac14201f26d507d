//! What one process proves to another that it is the one it was told of.

use std::fmt;
use std::fs::File;
use std::io::Read;

use nix::errno::Errno;

use crate::IpcError;

/// 128 random bits. They are told to nobody but those who shall have them, and are in no text of ours.
#[derive(Clone, Copy)]
pub(crate) struct Token([u8; Self::BYTES]);

impl Token {
    pub(crate) const BYTES: usize = 16;

    /// New bits from the kernel.
    pub(crate) fn new() -> Result<Self, IpcError> {
        let mut bytes = [0; Self::BYTES];
        let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
        let errno = |error: std::io::Error| Errno::from_raw(error.raw_os_error().unwrap_or(0));
        read.map(|()| Self(bytes)).map_err(|error| IpcError::from_call("read", errno(error)))
    }

    pub(crate) const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// As hexadecimal digits.
    pub(crate) fn digits(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.0))
    }

    /// Reads the digits that [`Self::digits`] wrote.
    pub(crate) fn from_digits(digits: &str) -> Option<Self> {
        // The parser of numbers would take a sign too.
        let plain = digits.len() == 2 * Self::BYTES && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = plain.then(|| u128::from_str_radix(digits, 16).ok()).flatten()?;
        Some(Self(number.to_be_bytes()))
    }

    /// Whether `shown` are these bits. It takes as long wherever the first difference is.
    pub(crate) fn is(&self, shown: &[u8]) -> bool {
        let difference = self.0.iter().zip(shown).fold(0, |bits, (own, other)| bits | (own ^ other));
        shown.len() == Self::BYTES && difference == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_of_its_bits_are_the_token() {
        let token = Token::new().unwrap();
        assert!(token.is(token.bytes()));
        assert!(!token.is(&token.bytes()[1..]));
        assert!(!token.is(&[token.bytes().as_slice(), &[0]].concat()));
        let flipped =
            |bit: usize| std::array::from_fn::<_, 16, _>(|byte| token.0[byte] ^ u8::from(byte == bit / 8) << (bit % 8));
        assert!((0..128).all(|bit| !token.is(&flipped(bit))));
        assert!(!token.is(Token::new().unwrap().bytes()));
    }

    #[test]
    fn digits_are_read_as_they_were_written_and_nothing_else_is() {
        let token = Token::from_bytes(std::array::from_fn(|index| index as u8));
        assert_eq!(token.digits(), "000102030405060708090a0b0c0d0e0f");
        assert!(Token::from_digits(&token.digits()).is_some_and(|read| token.is(read.bytes())));
        for digits in ["", "0", "+00102030405060708090a0b0c0d0e0f", "g00102030405060708090a0b0c0d0e0f", &"0".repeat(33)]
        {
            assert!(Token::from_digits(digits).is_none(), "{digits}");
        }
    }
}
