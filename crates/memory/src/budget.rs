//! How much host memory the simulated devices may take.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use thiserror::Error;

use crate::mapping::Mapping;
use crate::{MemoryError, Part, file};

const PAGE_BYTES: u64 = 4096;

/// The shared page. `limit` is written once, before anybody else can have the descriptor.
#[repr(C)]
struct Page {
    used: AtomicU64,
    limit: AtomicU64,
}

/// The budget does not allow more host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("host memory: {needed} bytes needed, {used} of {limit} in use; free device memory or raise the limit")]
pub struct HostMemory {
    /// The bytes asked for.
    pub needed: u64,
    /// The bytes charged at that moment.
    pub used: u64,
    /// The most that may be charged.
    pub limit: u64,
}

/// How much host memory all arenas together may take: one counter, shared by all OS processes that hold the descriptor.
///
/// Arenas charge a granule when it is first written and credit it when it is discarded. Dropping an arena credits
/// nothing, because others may still have it: budget and arenas live as long as the machine that they belong to.
#[derive(Debug)]
pub struct Budget {
    file: OwnedFd,
    page: Mapping,
}

impl Budget {
    /// Makes a budget of which nothing is used.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Create`] and [`MemoryError::Map`] if the kernel refuses.
    pub fn create(limit_bytes: u64) -> Result<Self, MemoryError> {
        let budget = Self::map(file::create(Part::Budget, "peermap-budget", PAGE_BYTES)?)?;
        budget.page().limit.store(limit_bytes, Ordering::Release);
        Ok(budget)
    }

    /// Opens a budget of another OS process from its descriptor.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Inspect`], [`MemoryError::Unsealed`] and [`MemoryError::WrongSize`] if this is no budget;
    /// [`MemoryError::Map`] if the kernel refuses.
    pub fn from_fd(descriptor: OwnedFd) -> Result<Self, MemoryError> {
        file::expect_size(Part::Budget, &descriptor, PAGE_BYTES)?;
        Self::map(descriptor)
    }

    fn map(file: OwnedFd) -> Result<Self, MemoryError> {
        let page = Mapping::shared(file.as_fd(), PAGE_BYTES).map_err(|source| MemoryError::Map {
            part: Part::Budget,
            bytes: PAGE_BYTES,
            source,
        })?;
        Ok(Self { file, page })
    }

    /// Charges `bytes`, or nothing at all.
    ///
    /// # Errors
    ///
    /// [`HostMemory`] if more would be in use than the limit allows.
    pub fn charge(&self, bytes: u64) -> Result<(), HostMemory> {
        let limit = self.limit();
        let more = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= limit);
        match self.page().used.fetch_update(Ordering::AcqRel, Ordering::Acquire, more) {
            Ok(_) => Ok(()),
            Err(used) => Err(HostMemory { needed: bytes, used, limit }),
        }
    }

    /// Gives back bytes that were charged.
    ///
    /// # Panics
    ///
    /// If more is credited than was charged.
    pub fn credit(&self, bytes: u64) {
        let less = |used: u64| used.checked_sub(bytes);
        let outcome = self.page().used.fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
        assert!(outcome.is_ok(), "{bytes} bytes credited where {outcome:?} were in use");
    }

    /// The bytes charged now.
    pub fn used(&self) -> u64 {
        self.page().used.load(Ordering::Acquire)
    }

    /// The most that may be charged.
    pub fn limit(&self) -> u64 {
        self.page().limit.load(Ordering::Acquire)
    }

    fn page(&self) -> &Page {
        // SAFETY: the mapping is a page long, page aligned and lives as long as `self`; any bits are valid for atomics,
        // through which all OS processes access it.
        unsafe { self.page.start().cast::<Page>().as_ref() }
    }
}

impl AsFd for Budget {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
