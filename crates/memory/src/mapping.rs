//! Owned memory mappings.

use std::num::NonZeroUsize;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;

use nix::errno::Errno;
use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap, mmap_anonymous, munmap};

/// A range of this process's address space, unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping belongs to the process, not to a thread: mmap(2) and munmap(2) may be called from any thread.
unsafe impl Send for Mapping {}
// SAFETY: a shared mapping gives out only its address; whoever uses the address answers for the access.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `bytes` of a memory file, shared and without reserving host memory.
    pub(crate) fn shared(file: BorrowedFd<'_>, bytes: u64) -> Result<Self, Errno> {
        let length = length(bytes)?;
        let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        let flags = MapFlags::MAP_SHARED | MapFlags::MAP_NORESERVE;
        // SAFETY: mmap(2) without MAP_FIXED replaces no existing mapping.
        let start = unsafe { mmap(None, length, protection, flags, file, 0) }?;
        Ok(Self { start: start.cast(), bytes: length.get() })
    }

    /// Maps `bytes` of private memory that reads as zero and takes host memory page by page as it is written.
    pub(crate) fn sparse(bytes: u64) -> Result<Self, Errno> {
        let mapping = Self::anonymous(bytes, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE)?;
        // With huge pages each scattered write would take 2 MiB. A kernel built without them refuses the advice, which
        // is as good. SAFETY: MADV_NOHUGEPAGE changes no contents (madvise(2)), and the range is this mapping.
        let _ = unsafe { madvise(mapping.start.cast(), mapping.bytes, MmapAdvise::MADV_NOHUGEPAGE) };
        Ok(mapping)
    }

    /// Reserves `bytes` of address space in which every access is a segmentation fault.
    pub(crate) fn inaccessible(bytes: u64) -> Result<Self, Errno> {
        Self::anonymous(bytes, ProtFlags::PROT_NONE)
    }

    fn anonymous(bytes: u64, protection: ProtFlags) -> Result<Self, Errno> {
        let length = length(bytes)?;
        let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_NORESERVE;
        // SAFETY: mmap(2) without MAP_FIXED replaces no existing mapping.
        let start = unsafe { mmap_anonymous(None, length, protection, flags) }?;
        Ok(Self { start: start.cast(), bytes: length.get() })
    }

    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by this value, and whoever took its address kept this value alive meanwhile.
        // munmap(2) fails only for a range that is no mapping, so there is nothing to report.
        let _ = unsafe { munmap(self.start.cast(), self.bytes) };
    }
}

/// mmap(2) answers EINVAL for a length of zero and ENOMEM for one beyond the address space; so does this.
fn length(bytes: u64) -> Result<NonZeroUsize, Errno> {
    let bytes = usize::try_from(bytes).map_err(|_| Errno::ENOMEM)?;
    NonZeroUsize::new(bytes).ok_or(Errno::EINVAL)
}
