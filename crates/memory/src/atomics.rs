//! Atomic operations on device memory.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::{Access, Content, Fault, FaultKind, View};

/// Acquire and release, so that a program that passes a flag by an atomic also passes the bytes written before it.
const ORDER: Ordering = Ordering::AcqRel;

/// Atomic operations. They are atomic among all threads and OS processes that share the arena.
///
/// # Errors
///
/// [`FaultKind::Misaligned`] if the address is not a multiple of the operand's size, before anything else is looked at;
/// then any [`Fault`] of reading and writing the operand.
impl View<'_> {
    /// Replaces a 32-bit number by what `change` makes of it; the number before. `change` is called again if another
    /// thread was faster.
    ///
    /// # Errors
    ///
    /// [`Fault`] if the number is misaligned or cannot be read and written.
    pub fn atomic_update_u32(&self, address: u64, change: impl FnMut(u32) -> u32) -> Result<u32, Fault> {
        let number = self.operand::<u32>(address)?;
        // SAFETY: `from_ptr` needs four valid, aligned bytes, which `operand` has checked; accesses that are not atomic
        // are the simulated program's own races.
        let number = unsafe { AtomicU32::from_ptr(number.as_ptr()) };
        Ok(number.update(ORDER, Ordering::Acquire, change))
    }

    /// Replaces a 64-bit number by what `change` makes of it; the number before. `change` is called again if another
    /// thread was faster.
    ///
    /// # Errors
    ///
    /// [`Fault`] if the number is misaligned or cannot be read and written.
    pub fn atomic_update_u64(&self, address: u64, change: impl FnMut(u64) -> u64) -> Result<u64, Fault> {
        let number = self.operand::<u64>(address)?;
        // SAFETY: `from_ptr` needs eight valid, aligned bytes, which `operand` has checked; accesses that are not
        // atomic are the simulated program's own races.
        let number = unsafe { AtomicU64::from_ptr(number.as_ptr()) };
        Ok(number.update(ORDER, Ordering::Acquire, change))
    }

    /// A number in device memory. Aligned, it lies within a granule, and is aligned in the host's memory too.
    fn operand<T>(&self, address: u64) -> Result<NonNull<T>, Fault> {
        let bytes = size_of::<T>() as u64;
        if !address.is_multiple_of(bytes) {
            return Err(Fault { address, kind: FaultKind::Misaligned { bytes } });
        }
        match self.run(address, bytes, Access::ReadWrite)? {
            (Content::Bytes(number), _) => Ok(number.cast()),
            (Content::Zero, _) => unreachable!("a span that can be written has bytes"),
        }
    }
}
