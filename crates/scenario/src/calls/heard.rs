//! What the parent knows of a worker's calls.

use std::fmt;

use peermap_ipc::Exit;
use peermap_ipc::clock::monotonic_ns;
use peermap_report::calls::{CallRecord, LostCalls};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::wire::read;

/// Some of the bytes of a worker's calls. A list of numbers would be the same, one number at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part(pub(crate) Vec<u8>);

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl Visitor<'_> for Bytes {
            type Value = Part;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Part, E> {
                Ok(Part(bytes.to_vec()))
            }
        }

        deserializer.deserialize_bytes(Bytes)
    }
}

/// What the parent has heard of a worker's calls.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    bytes: Vec<u8>,
    /// Whether these are all.
    complete: bool,
}

impl Heard {
    /// Takes some in; `last`: they are the last ones.
    pub(crate) fn add(&mut self, part: &Part, last: bool) {
        self.bytes.extend(&part.0);
        self.complete |= last;
    }

    /// The calls of a worker that has ended, and what is missing.
    pub(crate) fn end(&self, how: Option<Exit>) -> (Vec<CallRecord>, Option<LostCalls>) {
        let how = || how.map_or_else(|| "the process did not end".to_owned(), |how| how.to_string());
        let lost = (!self.complete).then(|| LostCalls { at_ns: monotonic_ns(), how: how() });
        (read(&self.bytes), lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_lost_unless_the_worker_sent_its_last_ones() {
        let mut heard = Heard::default();
        heard.add(&Part(Vec::new()), false);
        assert_eq!(heard.end(Some(Exit::Signal(9))).1.unwrap().how, "killed by SIGKILL");
        heard.add(&Part(Vec::new()), true);
        assert_eq!(heard.end(Some(Exit::Code(1))).1, None);
    }
}
