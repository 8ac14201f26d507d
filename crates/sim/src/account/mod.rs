//! What a machine can tell of its memory: who holds what now, what processes left when they ended, and what they did that a careful
//! program does not do. It is handed over as a file, however long it is.

mod reported;

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::OwnedFd;

use nix::sys::memfd::{MFdFlags, memfd_create};
use peermap_ipc::{Deadline, Shown, Window};
use peermap_report::Account;

pub(crate) use reported::reported;

use crate::host::SimError;

/// The kind of window behind which a machine gives account.
pub(crate) const WINDOW: &str = "account";

/// The longest account that is read.
///
/// # Units
/// Bytes.
const MOST_BYTES: u64 = 64 << 20;

/// The accounts of all machines of this user that are processes of their own, or of the `only` one that is this process, each with its process.
/// Machines that do not answer until the deadline are left out.
///
/// # Errors
/// If the kernel does not say who there is.
pub fn accounts(only: Option<u32>, deadline: Deadline) -> Result<Vec<(u32, Account)>, SimError> {
    let read = |shown: Shown| {
        let told = shown.channel.recv(1, deadline).ok()?;
        Some((shown.pid, from_file(told.fds.into_iter().next()?).ok()?))
    };
    // One that is not asked for and does not answer shall not take the time of the one that is.
    let wanted = |shown: &Shown| only.is_none_or(|only| only == shown.pid);
    Ok(Window::all(WINDOW, deadline)?.into_iter().filter(wanted).filter_map(read).collect())
}

pub(crate) fn to_file(account: &Account) -> Result<OwnedFd, SimError> {
    let mut file = File::from(memfd_create("peermap-account", MFdFlags::MFD_CLOEXEC)?);
    let bytes = postcard::to_allocvec(account).map_err(|_| SimError::OutOfTurn)?;
    file.write_all(&bytes).map_err(SimError::Account)?;
    Ok(file.into())
}

pub(crate) fn from_file(file: OwnedFd) -> Result<Account, SimError> {
    let (mut file, mut bytes) = (File::from(file), Vec::new());
    file.rewind().and_then(|()| file.take(MOST_BYTES).read_to_end(&mut bytes)).map_err(SimError::Account)?;
    postcard::from_bytes(&bytes).map_err(|_| SimError::OutOfTurn)
}
