//! Memory files whose size is fixed.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::fstat;
use nix::unistd::ftruncate;

use crate::{MemoryError, Part};

/// A mapping of a file that nobody can shrink never answers an access with SIGBUS for want of file.
const FIXED_SIZE: SealFlag = SealFlag::F_SEAL_SHRINK.union(SealFlag::F_SEAL_GROW);

/// Makes a sparse memory file of fixed size, closed on exec.
pub(crate) fn create(part: Part, name: &str, bytes: u64) -> Result<OwnedFd, MemoryError> {
    let refused = |source| MemoryError::Create { part, bytes, source };
    let length = i64::try_from(bytes).map_err(|_| refused(Errno::EFBIG))?;
    let file = memfd_create(name, MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING).map_err(refused)?;
    ftruncate(&file, length).map_err(refused)?;
    fcntl(&file, FcntlArg::F_ADD_SEALS(FIXED_SIZE | SealFlag::F_SEAL_SEAL)).map_err(refused)?;
    Ok(file)
}

/// The size of a memory file that came from elsewhere, once it is certain that the size cannot change.
pub(crate) fn fixed_size(part: Part, file: BorrowedFd<'_>) -> Result<u64, MemoryError> {
    let inspect = |source| MemoryError::Inspect { part, source };
    let seals = fcntl(file, FcntlArg::F_GET_SEALS).map_err(inspect)?;
    if !SealFlag::from_bits_retain(seals).contains(FIXED_SIZE) {
        return Err(MemoryError::Unsealed { part });
    }
    let status = fstat(file).map_err(inspect)?;
    Ok(status.st_size.unsigned_abs())
}

/// Refuses a memory file that came from elsewhere unless it has the expected size for good.
pub(crate) fn expect_size(part: Part, file: &OwnedFd, expected: u64) -> Result<(), MemoryError> {
    let bytes = fixed_size(part, file.as_fd())?;
    if bytes != expected {
        return Err(MemoryError::WrongSize { part, bytes, expected });
    }
    Ok(())
}
