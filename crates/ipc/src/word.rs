//! Words that several processes see: atomic numbers in shared memory, or, where an algorithm is checked, a checker's own.

use std::sync::atomic::{AtomicU32, Ordering};

/// A word that is read and written whole.
pub(crate) trait Cell {
    fn load(&self, order: Ordering) -> u32;
    fn store(&self, value: u32, order: Ordering);
}

impl Cell for AtomicU32 {
    fn load(&self, order: Ordering) -> u32 {
        Self::load(self, order)
    }

    fn store(&self, value: u32, order: Ordering) {
        Self::store(self, value, order);
    }
}
