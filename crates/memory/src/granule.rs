//! Sizes in granules.

use crate::entry::MAXIMUM_GRANULES;
use crate::{MemoryError, Part};

/// The smallest granule: a page of the host.
pub const MINIMUM_GRANULE_BYTES: u64 = 4096;

/// A granule size, kept as a shift so that dividing by it is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GranuleSize {
    shift: u32,
}

impl GranuleSize {
    pub(crate) fn new(granule_bytes: u64) -> Result<Self, MemoryError> {
        if !granule_bytes.is_power_of_two() || granule_bytes < MINIMUM_GRANULE_BYTES {
            return Err(MemoryError::Granule { granule_bytes });
        }
        Ok(Self { shift: granule_bytes.trailing_zeros() })
    }

    pub(crate) fn bytes(self) -> u64 {
        1 << self.shift
    }

    /// The granule that holds the byte `offset`.
    pub(crate) fn index(self, offset: u64) -> u64 {
        offset >> self.shift
    }

    /// The offset of the first byte of `granule`.
    pub(crate) fn start(self, granule: u64) -> u64 {
        granule << self.shift
    }

    /// The position of `address` in its granule.
    pub(crate) fn inside(self, address: u64) -> u64 {
        address & (self.bytes() - 1)
    }

    /// The number of granules in `bytes` at `base`, if both are whole granules.
    pub(crate) fn count(self, part: Part, base: u64, bytes: u64) -> Result<u64, MemoryError> {
        let granules = self.index(bytes);
        let whole = self.inside(bytes) == 0 && self.inside(base) == 0;
        let in_range = (1..=MAXIMUM_GRANULES).contains(&granules) && base.checked_add(bytes).is_some();
        if !whole || !in_range {
            return Err(MemoryError::Size { part, base, bytes, granule_bytes: self.bytes() });
        }
        Ok(granules)
    }
}
