//! The address.

use std::fmt;

use nix::sys::socket::UnixAddr;

use super::failed;
use crate::IpcError;
use crate::token::Token;

/// An address that only those know who were told it.
#[derive(Clone, Copy)]
pub struct PrivateAddress {
    /// Where it is. Everybody on the host can see this.
    place: Token,
    /// What those who come show.
    pub(super) knock: Token,
    /// What those who listen answer.
    pub(super) answer: Token,
}

impl PrivateAddress {
    /// How long an address is.
    ///
    /// # Units
    /// Bytes.
    pub const BYTES: usize = 3 * Token::BYTES;

    pub(super) fn new() -> Result<Self, IpcError> {
        Ok(Self { place: Token::new()?, knock: Token::new()?, answer: Token::new()? })
    }

    /// The address as bytes, to tell it to others.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let (parts, _) = bytes.as_chunks_mut();
        for (part, token) in parts.iter_mut().zip([self.place, self.knock, self.answer]) {
            *part = *token.bytes();
        }
        bytes
    }

    /// The address that was told as bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let (parts, _) = bytes.as_chunks();
        let token = |part: usize| Token::from_bytes(parts[part]);
        Self { place: token(0), knock: token(1), answer: token(2) }
    }

    /// The name of the place, without the zero byte before it.
    pub(super) fn name(&self) -> String {
        format!("peermap-{}", self.place.digits())
    }

    pub(super) fn in_kernel(&self) -> Result<UnixAddr, IpcError> {
        UnixAddr::new_abstract(self.name().as_bytes()).map_err(failed("address"))
    }
}

/// Without the secrets.
impl fmt::Debug for PrivateAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateAddress(@{})", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_what_its_bytes_say_and_a_text_of_it_has_no_secret() {
        let bytes = std::array::from_fn(|index| index as u8);
        let address = PrivateAddress::from_bytes(&bytes);
        assert_eq!(address.to_bytes(), bytes);
        assert_eq!(format!("{address:?}"), "PrivateAddress(@peermap-000102030405060708090a0b0c0d0e0f)");
    }
}
