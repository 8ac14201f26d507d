//! Addresses and sizes: newtypes whose arithmetic is checked.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A device address (`CUdeviceptr`).
///
/// # Units
/// Bytes from the start of the calling process's address space.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct DevicePtr(u64);

impl DevicePtr {
    /// The null address.
    pub const NULL: Self = Self(0);

    /// Makes an address from its number. Any number may be passed to a driver, which answers for wrong ones.
    #[must_use]
    pub const fn new(address: u64) -> Self {
        Self(address)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whether this is the null address.
    #[must_use]
    pub const fn is_null(self) -> bool {
        self.0 == 0
    }

    /// The address `bytes` further on, or `None` past the end of the address space.
    #[must_use]
    pub const fn checked_add(self, bytes: ByteSize) -> Option<Self> {
        match self.0.checked_add(bytes.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }

    /// The distance from `base` up to this address, or `None` if this address lies below it.
    #[must_use]
    pub const fn checked_offset_from(self, base: Self) -> Option<ByteSize> {
        match self.0.checked_sub(base.0) {
            Some(distance) => Some(ByteSize(distance)),
            None => None,
        }
    }

    /// Whether the address is a multiple of `alignment`.
    #[must_use]
    pub const fn is_multiple_of(self, alignment: ByteSize) -> bool {
        self.0.is_multiple_of(alignment.0)
    }
}

impl fmt::Display for DevicePtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Debug for DevicePtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DevicePtr({:#x})", self.0)
    }
}

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ByteSize(u64);

impl ByteSize {
    /// No bytes.
    pub const ZERO: Self = Self(0);

    /// A number of bytes.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// A number of KiB.
    ///
    /// # Panics
    /// If the number of bytes does not fit 64 bits.
    #[must_use]
    pub const fn kib(count: u64) -> Self {
        Self(count.checked_mul(1 << 10).expect("a size in KiB fits 64 bits"))
    }

    /// A number of MiB.
    ///
    /// # Panics
    /// If the number of bytes does not fit 64 bits.
    #[must_use]
    pub const fn mib(count: u64) -> Self {
        Self(count.checked_mul(1 << 20).expect("a size in MiB fits 64 bits"))
    }

    /// A number of GiB.
    ///
    /// # Panics
    /// If the number of bytes does not fit 64 bits.
    #[must_use]
    pub const fn gib(count: u64) -> Self {
        Self(count.checked_mul(1 << 30).expect("a size in GiB fits 64 bits"))
    }

    /// The number of bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum, or `None` if it does not fit.
    #[must_use]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }

    /// The product, or `None` if it does not fit.
    #[must_use]
    pub const fn checked_mul(self, count: u64) -> Option<Self> {
        match self.0.checked_mul(count) {
            Some(product) => Some(Self(product)),
            None => None,
        }
    }

    /// Whether this is a multiple of `unit`. Zero is a multiple of everything; nothing else is a multiple of zero.
    #[must_use]
    pub const fn is_multiple_of(self, unit: Self) -> bool {
        self.0.is_multiple_of(unit.0)
    }

    /// The smallest multiple of `unit` that is no smaller, or `None` if it does not fit or `unit` is zero.
    #[must_use]
    pub const fn checked_next_multiple_of(self, unit: Self) -> Option<Self> {
        match self.0.checked_next_multiple_of(unit.0) {
            Some(multiple) => Some(Self(multiple)),
            None => None,
        }
    }

    /// The size as a length in this process's memory.
    #[must_use]
    pub fn to_usize(self) -> Option<usize> {
        usize::try_from(self.0).ok()
    }
}

impl From<usize> for ByteSize {
    fn from(bytes: usize) -> Self {
        Self(bytes as u64)
    }
}

impl fmt::Display for ByteSize {
    /// The largest binary unit that divides the size: `4 MiB`, `4097 B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        for (bytes, name) in UNITS {
            if self.0 >= bytes && self.0.is_multiple_of(bytes) {
                return write!(f, "{} {name}", self.0 / bytes);
            }
        }
        write!(f, "{} B", self.0)
    }
}

/// Why a text is no size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseSizeError {
    /// The part before the unit is no whole number.
    #[error("{text:?} is no size; write a whole number and a unit, such as 4MiB or 65536")]
    Number {
        /// What was given.
        text: String,
        /// What is wrong with the number.
        source: ParseIntError,
    },
    /// The unit is unknown.
    #[error("{unit:?} is no unit of size; use B, KiB, MiB, GiB or TiB")]
    Unit {
        /// What stood where the unit belongs.
        unit: String,
    },
    /// The size does not fit 64 bits.
    #[error("{text:?} does not fit 64 bits")]
    TooLarge {
        /// What was given.
        text: String,
    },
}

impl FromStr for ByteSize {
    type Err = ParseSizeError;

    /// Reads `4MiB`, `4 MiB`, `65536` or `64KiB`; units are binary, and `K`, `M`, `G`, `T` mean the same.
    fn from_str(text: &str) -> Result<Self, ParseSizeError> {
        let trimmed = text.trim();
        let digits = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(digits);
        let number: u64 = number.parse().map_err(|source| ParseSizeError::Number { text: text.to_owned(), source })?;
        let shift = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 0,
            "k" | "kib" => 10,
            "m" | "mib" => 20,
            "g" | "gib" => 30,
            "t" | "tib" => 40,
            _ => {
                return Err(ParseSizeError::Unit { unit: unit.trim().to_owned() });
            }
        };
        number.checked_mul(1 << shift).map(Self).ok_or_else(|| ParseSizeError::TooLarge { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_are_read_and_shown_with_binary_units() {
        for (text, bytes, shown) in [
            ("4MiB", 4 << 20, "4 MiB"),
            ("4 mib", 4 << 20, "4 MiB"),
            ("64K", 64 << 10, "64 KiB"),
            ("65537", 65537, "65537 B"),
            ("0", 0, "0 B"),
            ("1T", 1 << 40, "1 TiB"),
        ] {
            let size: ByteSize = text.parse().unwrap();
            assert_eq!(size, ByteSize::new(bytes));
            assert_eq!(size.to_string(), shown);
        }
    }

    #[test]
    fn what_is_no_size_says_why() {
        assert!(matches!("MiB".parse::<ByteSize>(), Err(ParseSizeError::Number { .. })));
        assert!(matches!("-4MiB".parse::<ByteSize>(), Err(ParseSizeError::Number { .. })));
        assert!(matches!("4MB".parse::<ByteSize>(), Err(ParseSizeError::Unit { .. })));
        assert!(matches!("99999999T".parse::<ByteSize>(), Err(ParseSizeError::TooLarge { .. })));
    }

    #[test]
    fn address_arithmetic_ends_at_the_border() {
        assert_eq!(DevicePtr::new(u64::MAX).checked_add(ByteSize::new(1)), None);
        assert_eq!(DevicePtr::new(1).checked_offset_from(DevicePtr::new(2)), None);
    }

    proptest! {
        #[test]
        fn a_shown_size_reads_back(bytes: u64) {
            let size = ByteSize::new(bytes);
            prop_assert_eq!(size.to_string().parse::<ByteSize>(), Ok(size));
        }
    }
}
