//! Sealed anonymous shared memory, seen as atomics.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, FcntlArg, SealFlag, fallocate, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use nix::sys::stat::fstat;
use nix::unistd::ftruncate;

/// What can go wrong with shared memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShmError {
    /// A length that is zero, no multiple of four, or beyond what a file can have.
    #[error("a length of {len} bytes is not a positive multiple of 4")]
    BadLength {
        /// Bytes asked for.
        len: usize,
    },
    /// A label that the kernel does not take.
    #[error("the label {label:?} has a zero byte or more than {MAX_LABEL} bytes")]
    BadLabel {
        /// The label given.
        label: String,
    },
    /// The host has not enough memory. Without this check the kernel would kill a process to make room.
    #[error(
        "{len} bytes of shared memory do not fit in the {available} bytes that this host or its control group has left"
    )]
    OutOfMemory {
        /// Bytes asked for.
        len: usize,
        /// Bytes available.
        available: u64,
    },
    /// The memory of a received descriptor has another size.
    #[error("the shared memory has {found} bytes where {expected} were expected")]
    WrongSize {
        /// Bytes expected.
        expected: usize,
        /// Bytes found.
        found: u64,
    },
    /// The memory can still be shrunk or grown by whoever has it, so touching it could end in SIGBUS.
    #[error("the descriptor is no shared memory that is sealed against shrinking and growing")]
    NotSealed,
    /// A system call failed.
    #[error("{call} failed")]
    System {
        /// The system call.
        call: &'static str,
        /// Its error number.
        source: Errno,
    },
}

impl ShmError {
    fn from_call(call: &'static str) -> impl FnOnce(Errno) -> Self {
        move |source| Self::System { call, source }
    }
}

/// memfd_create(2) allows 249 bytes, of which the prefix takes eight.
const MAX_LABEL: usize = 241;

/// Memory that several processes share, without a name in any file system.
///
/// Its size is fixed by seals and all of it exists from the start, so no access to it can raise SIGBUS. It is zero at
/// first. It is gone when the last process that has its descriptor or its mapping is gone, however that process ended.
#[derive(Debug)]
pub struct SharedMemory {
    fd: OwnedFd,
    address: NonNull<AtomicU32>,
    words: usize,
}

// SAFETY: The mapping belongs to the process, not to a thread, and its content is only reached as atomics.
unsafe impl Send for SharedMemory {}
// SAFETY: As above: shared access gives out nothing but `&AtomicU32`.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Makes shared memory of `len` bytes that shows as `peermap-<label>` in `/proc/<pid>/maps`.
    ///
    /// # Units
    /// `len` is in bytes, a multiple of four.
    ///
    /// # Errors
    /// [`ShmError::BadLength`], [`ShmError::BadLabel`], [`ShmError::OutOfMemory`], and [`ShmError::System`] with `ENOSPC`
    /// or `ENOMEM` from `fallocate` if the memory went to somebody else between the check and the call.
    pub fn create(label: &str, len: usize) -> Result<Self, ShmError> {
        let size = checked_size(len)?;
        if label.len() > MAX_LABEL || label.contains('\0') {
            return Err(ShmError::BadLabel { label: label.to_owned() });
        }
        check_memory(len)?;
        let name = format!("peermap-{label}");
        let fd = memfd_create(name.as_str(), MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)
            .map_err(ShmError::from_call("memfd_create"))?;
        ftruncate(&fd, size).map_err(ShmError::from_call("ftruncate"))?;
        fallocate(&fd, FallocateFlags::empty(), 0, size).map_err(ShmError::from_call("fallocate"))?;
        let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
        fcntl(&fd, FcntlArg::F_ADD_SEALS(seals)).map_err(ShmError::from_call("fcntl"))?;
        Self::map(fd, len)
    }

    /// Takes shared memory that another process made.
    ///
    /// # Errors
    /// [`ShmError::NotSealed`] if it is anything but sealed shared memory, [`ShmError::WrongSize`] if it has not exactly
    /// `expected_len` bytes. Both are checked before anything is mapped.
    pub fn from_fd(fd: OwnedFd, expected_len: usize) -> Result<Self, ShmError> {
        checked_size(expected_len)?;
        // Seals come first: until they are known, the size may change under our hands. Other files answer EINVAL.
        let seals = match fcntl(&fd, FcntlArg::F_GET_SEALS) {
            Ok(bits) => SealFlag::from_bits_truncate(bits),
            Err(Errno::EINVAL) => return Err(ShmError::NotSealed),
            Err(source) => return Err(ShmError::System { call: "fcntl", source }),
        };
        if !seals.contains(SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW) {
            return Err(ShmError::NotSealed);
        }
        let found = fstat(&fd).map_err(ShmError::from_call("fstat"))?.st_size.cast_unsigned();
        if found != expected_len as u64 {
            return Err(ShmError::WrongSize { expected: expected_len, found });
        }
        Self::map(fd, expected_len)
    }

    /// The length.
    ///
    /// # Units
    /// Bytes.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.words * size_of::<AtomicU32>()
    }

    /// The memory, word by word.
    #[must_use]
    pub fn atomics(&self) -> &[AtomicU32] {
        // SAFETY: mmap(2) returned a page-aligned mapping of `words * 4` bytes that stays until drop; the seals keep the
        // file at least that long; all bit patterns are valid; every access of ours to it is atomic.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr(), self.words) }
    }

    fn map(fd: OwnedFd, len: usize) -> Result<Self, ShmError> {
        let bytes = std::num::NonZeroUsize::new(len).ok_or(ShmError::BadLength { len })?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: mmap(2) without MAP_FIXED and with no address given replaces no mapping that exists.
        let address = unsafe { mmap(None, bytes, access, MapFlags::MAP_SHARED, &fd, 0) };
        let address = address.map_err(ShmError::from_call("mmap"))?;
        Ok(Self { fd, address: address.cast(), words: len / size_of::<AtomicU32>() })
    }
}

impl AsFd for SharedMemory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: munmap(2) of exactly the range that `map` got from mmap; slices of it borrow `self` and are gone.
        let result = unsafe { munmap(self.address.cast(), self.len_bytes()) };
        debug_assert_eq!(result, Ok(()), "munmap of a mapping of our own");
    }
}

fn checked_size(len: usize) -> Result<i64, ShmError> {
    match i64::try_from(len) {
        Ok(size) if size > 0 && len.is_multiple_of(size_of::<AtomicU32>()) => Ok(size),
        _ => Err(ShmError::BadLength { len }),
    }
}

/// Refuses what cannot fit. If the host does not say how much memory it has, `fallocate` has the last word alone.
fn check_memory(len: usize) -> Result<(), ShmError> {
    match crate::limits::available_memory() {
        Ok(available) if (len as u64) > available => Err(ShmError::OutOfMemory { len, available }),
        _ => Ok(()),
    }
}
