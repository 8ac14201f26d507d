//! Maps by numbers that this crate hands out itself.
//!
//! The hash of the standard library withstands keys that somebody chose so that they collide. Nobody chooses these: a caller
//! can ask for any number, but only our own are ever put in. Nearly every call looks one up.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are such numbers, or several of them.
pub(crate) type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// Odd, with bits in no order: 2^64 divided by the golden ratio.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Spreads numbers that lie at equal distances, as handles do.
#[derive(Debug, Default)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(32) ^ number).wrapping_mul(FACTOR);
    }

    /// The product's low bits depend on the number's low bits only, and a map takes its places from them.
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::hash::{BuildHasher, Hash};

    use super::*;

    fn hash(key: impl Hash) -> u64 {
        BuildHasherDefault::<NumberHasher>::default().hash_one(key)
    }

    #[test]
    fn handles_at_equal_distances_fall_into_different_places() {
        let places: BTreeSet<u64> = (0..4096).map(|count| hash(0x5_6000_0000_u64 + count * 0x140) % 4096).collect();
        assert!(places.len() > 2000, "{} of 4096", places.len());
    }

    #[test]
    fn the_order_of_two_numbers_matters() {
        assert_ne!(hash((1_u64, 2_u64)), hash((2_u64, 1_u64)));
    }
}
