//! The page table of one simulated process on one device.

use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::entry::MAXIMUM_GRANULES;
use crate::granule::GranuleSize;
use crate::mapping::Mapping;
use crate::{Backing, Entry, MemoryError, Part, Rights};

/// A flat page table: an atomic entry per granule of the device window.
///
/// A mapping costs one store per granule and no call into the kernel, however many there are. The table itself is
/// sparse: only the parts that have been written take host memory.
///
/// Changes to one entry are atomic. A range is changed entry by entry, so another thread can see a part of the change.
///
/// # Units
///
/// Addresses are device addresses in bytes; lengths are granules.
#[derive(Debug)]
pub struct Table {
    base: u64,
    granule: GranuleSize,
    granules: usize,
    entries: Mapping,
}

impl Table {
    /// Makes an empty table for the window of device addresses at `window_base`.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Granule`] and [`MemoryError::Size`] for sizes that do not fit together; [`MemoryError::Map`] if
    /// the kernel refuses the eight bytes of address space per granule.
    pub fn new(window_base: u64, window_bytes: u64, granule_bytes: u64) -> Result<Self, MemoryError> {
        let granule = GranuleSize::new(granule_bytes)?;
        let granules = granule.count(Part::Table, window_base, window_bytes)?;
        let bytes = granules * size_of::<AtomicU64>() as u64;
        let refused = |source| MemoryError::Map { part: Part::Table, bytes, source };
        let entries = Mapping::sparse(bytes).map_err(refused)?;
        Ok(Self { base: window_base, granule, granules: granules as usize, entries })
    }

    /// Maps granules at `address`, whatever was mapped there before.
    ///
    /// # Panics
    ///
    /// If the range is not whole granules of the window, or the backing has more granules than an entry can number.
    pub fn set(&self, address: u64, granules: u64, backing: Backing, rights: Rights) {
        let end = backing.first_granule.checked_add(granules);
        assert!(end.is_some_and(|end| end <= MAXIMUM_GRANULES), "{granules} granules from {backing:?} are beyond 2^40");
        let entries = self.range(address, granules);
        let first = Entry::new(backing, rights).bits();
        for (entry, bits) in entries.iter().zip(first..) {
            entry.store(bits, Ordering::Release);
        }
    }

    /// Unmaps granules at `address`, whether something is mapped there or not.
    ///
    /// # Panics
    ///
    /// If the range is not whole granules of the window.
    pub fn clear(&self, address: u64, granules: u64) {
        for entry in self.range(address, granules) {
            entry.store(0, Ordering::Release);
        }
    }

    /// What is mapped at `address`, which may be any number.
    #[inline]
    pub fn lookup(&self, address: u64) -> Option<Entry> {
        // An address below the window wraps round to an index far beyond the table.
        let index = self.granule.index(address.wrapping_sub(self.base));
        let entry = self.all().get(index as usize)?;
        Entry::from_bits(entry.load(Ordering::Acquire))
    }

    /// The first address of the window.
    pub fn window_base(&self) -> u64 {
        self.base
    }

    /// The size of the window.
    pub fn window_bytes(&self) -> u64 {
        self.granule.start(self.granules as u64)
    }

    /// The size of a granule.
    pub fn granule_bytes(&self) -> u64 {
        self.granule.bytes()
    }

    #[inline]
    pub(crate) fn granule(&self) -> GranuleSize {
        self.granule
    }

    #[inline]
    fn range(&self, address: u64, granules: u64) -> &[AtomicU64] {
        let offset = address.wrapping_sub(self.base);
        let first = self.granule.index(offset);
        let end = first.checked_add(granules).filter(|end| *end <= self.granules as u64);
        match end {
            Some(end) if self.granule.inside(offset) == 0 => &self.all()[first as usize..end as usize],
            _ => panic!("{granules} granules at {address:#x} are not whole granules of the device window"),
        }
    }

    #[inline]
    fn all(&self) -> &[AtomicU64] {
        let first = self.entries.start().cast::<AtomicU64>().as_ptr();
        // SAFETY: the mapping holds `granules` entries and lives as long as `self`; it is accessed as atomics only, for
        // which any bits are valid.
        unsafe { slice::from_raw_parts(first, self.granules) }
    }
}
