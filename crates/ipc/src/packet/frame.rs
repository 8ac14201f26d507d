//! The bytes of a packet. Pure: no sockets here.
//!
//! | bytes | content (little endian) |
//! | --- | --- |
//! | 0..4 | magic `PMIP` |
//! | 4..6 | [`PROTOCOL_VERSION`] |
//! | 6..8 | kind |
//! | 8..16 | sequence number of the packet in its direction, from 0 |
//! | 16.. | the value, in the postcard format |

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The version of the packet format. Both ends must have the same.
pub const PROTOCOL_VERSION: u16 = 1;

const MAGIC: [u8; 4] = *b"PMIP";
const HEADER: usize = 16;

/// Why the bytes of a message are not the packet that was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PacketError {
    /// Fewer bytes than a header has.
    #[error("a packet of {len} bytes is shorter than its header of {HEADER} bytes")]
    TooShort {
        /// Bytes received.
        len: usize,
    },
    /// The packet does not begin with the magic number: the peer is no peermap process.
    #[error("a packet begins with {found:02x?} instead of {MAGIC:02x?}; the peer is no peermap process")]
    WrongMagic {
        /// The first four bytes.
        found: [u8; 4],
    },
    /// The peer speaks another version of the protocol.
    #[error(
        "the peer speaks packet protocol {found}, this process {PROTOCOL_VERSION}; run the same build on both sides"
    )]
    WrongVersion {
        /// The peer's version.
        found: u16,
    },
    /// A packet of another kind, for example a value where descriptors were expected.
    #[error("a packet of kind {found} came where kind {expected} was expected")]
    WrongKind {
        /// The kind that the receiver waits for.
        expected: u16,
        /// The kind in the packet.
        found: u16,
    },
    /// A packet was lost, doubled, or received through another copy of the socket.
    #[error("packet number {found} came where number {expected} was expected")]
    WrongSequence {
        /// The number that the receiver waits for.
        expected: u64,
        /// The number in the packet.
        found: u64,
    },
    /// The value could not be turned into bytes.
    #[error("the value cannot be encoded")]
    Encode(#[source] postcard::Error),
    /// The bytes are not a value of the expected type.
    #[error("the packet holds no value of the expected type")]
    Decode(#[source] postcard::Error),
    /// Bytes were left after the value.
    #[error("{count} bytes are left behind the value of a packet")]
    TrailingBytes {
        /// Bytes left.
        count: usize,
    },
    /// The two sides disagree on how many descriptors are to be handed over.
    #[error("the peer announced {announced} descriptors where {expected} were expected")]
    WrongDescriptorTotal {
        /// What the receiver asked for.
        expected: usize,
        /// What the sender announced.
        announced: usize,
    },
    /// A batch, or the answer to one, does not continue where the last one ended.
    #[error("a batch of descriptors stands at {found} where {expected} was expected")]
    WrongBatch {
        /// Descriptors that should have been handed over by now.
        expected: usize,
        /// What the packet says.
        found: usize,
    },
}

/// What a packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A value of the caller's type.
    Value = 1,
    /// Part of a list of descriptors.
    Batch = 2,
    /// The receiver has taken a batch.
    BatchTaken = 3,
}

/// Makes the bytes of a packet.
pub(super) fn encode<T: Serialize>(kind: Kind, sequence: u64, value: &T) -> Result<Vec<u8>, PacketError> {
    let mut bytes = Vec::with_capacity(4 * HEADER);
    bytes.extend(MAGIC);
    bytes.extend(PROTOCOL_VERSION.to_le_bytes());
    bytes.extend((kind as u16).to_le_bytes());
    bytes.extend(sequence.to_le_bytes());
    postcard::to_extend(value, bytes).map_err(PacketError::Encode)
}

/// Checks the header and returns the bytes behind it.
pub(super) fn open(bytes: &[u8], kind: Kind, sequence: u64) -> Result<&[u8], PacketError> {
    let (header, body) = bytes.split_first_chunk::<HEADER>().ok_or(PacketError::TooShort { len: bytes.len() })?;
    let [m0, m1, m2, m3, v0, v1, k0, k1, number @ ..] = *header;
    let magic = [m0, m1, m2, m3];
    let version = u16::from_le_bytes([v0, v1]);
    let found = u16::from_le_bytes([k0, k1]);
    let number = u64::from_le_bytes(number);
    if magic != MAGIC {
        return Err(PacketError::WrongMagic { found: magic });
    }
    if version != PROTOCOL_VERSION {
        return Err(PacketError::WrongVersion { found: version });
    }
    if number != sequence {
        return Err(PacketError::WrongSequence { expected: sequence, found: number });
    }
    if found != kind as u16 {
        return Err(PacketError::WrongKind { expected: kind as u16, found });
    }
    Ok(body)
}

/// Reads the value behind a header; it must use up all the bytes.
pub(super) fn value<T: DeserializeOwned>(body: &[u8]) -> Result<T, PacketError> {
    let (value, rest) = postcard::take_from_bytes(body).map_err(PacketError::Decode)?;
    if !rest.is_empty() {
        return Err(PacketError::TrailingBytes { count: rest.len() });
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Value = (u32, String, Option<Vec<u16>>);

    fn packet() -> Vec<u8> {
        encode(Kind::Value, 7, &(1u32, "one".to_owned(), Some(vec![2u16, 3]))).expect("plain data encodes")
    }

    fn decode(bytes: &[u8]) -> Result<Value, PacketError> {
        value(open(bytes, Kind::Value, 7)?)
    }

    #[test]
    fn a_short_packet_is_told_from_a_wrong_one() {
        assert_eq!(decode(&packet()[..15]), Err(PacketError::TooShort { len: 15 }));
    }

    #[test]
    fn a_wrong_magic_is_its_own_error() {
        let mut bytes = packet();
        bytes[..4].copy_from_slice(b"HTTP");
        assert_eq!(decode(&bytes), Err(PacketError::WrongMagic { found: *b"HTTP" }));
    }

    #[test]
    fn a_wrong_version_is_its_own_error() {
        let mut bytes = packet();
        bytes[4] = 9;
        assert_eq!(decode(&bytes), Err(PacketError::WrongVersion { found: 9 }));
    }

    #[test]
    fn a_wrong_kind_is_its_own_error() {
        let mut bytes = packet();
        bytes[6] = 3;
        assert_eq!(decode(&bytes), Err(PacketError::WrongKind { expected: 1, found: 3 }));
    }

    #[test]
    fn a_wrong_sequence_number_is_its_own_error() {
        let mut bytes = packet();
        bytes[8] = 8;
        assert_eq!(decode(&bytes), Err(PacketError::WrongSequence { expected: 7, found: 8 }));
    }

    #[test]
    fn a_cut_value_is_a_decoding_error() {
        let bytes = packet();
        let cut = decode(&bytes[..bytes.len() - 1]);
        assert_eq!(cut, Err(PacketError::Decode(postcard::Error::DeserializeUnexpectedEnd)));
    }

    #[test]
    fn bytes_behind_the_value_are_counted() {
        let mut bytes = packet();
        bytes.extend([0, 0]);
        assert_eq!(decode(&bytes), Err(PacketError::TrailingBytes { count: 2 }));
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(sent: Value, sequence: u64) {
            let bytes = encode(Kind::Value, sequence, &sent).expect("plain data encodes");
            let body = open(&bytes, Kind::Value, sequence).expect("the header is ours");
            prop_assert_eq!(value::<Value>(body), Ok(sent));
        }

        #[test]
        fn random_bytes_never_panic_the_decoder(bytes: Vec<u8>) {
            prop_assert!(decode(&bytes).is_err());
        }

        #[test]
        fn random_bytes_behind_a_good_header_never_panic_the_decoder(body: Vec<u8>) {
            let mut bytes = packet()[..HEADER].to_vec();
            bytes.extend(&body);
            let _: Result<Value, PacketError> = decode(&bytes);
        }

        #[test]
        fn a_flipped_bit_in_the_header_is_an_error(bit in 0..HEADER * 8) {
            let mut bytes = packet();
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(decode(&bytes).is_err());
        }
    }
}
