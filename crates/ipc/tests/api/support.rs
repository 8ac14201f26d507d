//! What several tests need.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::fstat;
use nix::unistd::ftruncate;
use peermap_ipc::Deadline;

/// Long enough for every wait that shall succeed, however busy the machine is.
pub fn patience() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

/// A deadline that has passed.
pub fn no_time() -> Deadline {
    Deadline::after(Duration::ZERO)
}

/// Descriptors that can be told apart: number n is a file of n bytes.
pub fn numbered_files(count: usize) -> Vec<OwnedFd> {
    (0..count)
        .map(|number| {
            let file = memfd_create("numbered", MFdFlags::MFD_CLOEXEC).expect("a descriptor is free");
            ftruncate(&file, number as i64).expect("an empty file can grow");
            file
        })
        .collect()
}

/// The numbers of files made by [`numbered_files`].
pub fn numbers_of(files: &[OwnedFd]) -> Vec<usize> {
    files.iter().map(|file| fstat(file).expect("the file is open").st_size as usize).collect()
}

pub fn borrow(files: &[OwnedFd]) -> Vec<BorrowedFd<'_>> {
    files.iter().map(AsFd::as_fd).collect()
}

pub fn is_close_on_exec(fd: impl AsFd) -> bool {
    let flags = fcntl(fd, FcntlArg::F_GETFD).expect("the descriptor is open");
    FdFlag::from_bits_truncate(flags).contains(FdFlag::FD_CLOEXEC)
}
