//! I1: `/dev/shm` of a container was too small, which showed as a bus error at the first touch.
//!
//! Shared memory of ours lies in no such file system, exists before anything touches it, and is refused with what is left if it does
//! not fit. A file that only promises its size, as one in a `tmpfs` of 1 MiB does, is not taken for shared memory.

use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getgid, getuid};
use peermap_ipc::{SharedMemory, ShmError, limits};

use crate::expect::{holds, same};
use crate::stage::Stage;
use crate::trouble::Trouble;

/// What the file system has, and what is asked of it.
const HAS: u64 = 1 << 20;
const ASKED: usize = 8 << 20;

pub(crate) fn play(_stage: &Stage) -> Result<(), Trouble> {
    let available = usize::try_from(limits::available_memory()?).unwrap_or(usize::MAX);
    let too_much = available.saturating_mul(2).next_multiple_of(4096);
    let refusal = SharedMemory::create("too-much", too_much).map(drop);
    holds("more than there is is refused", matches!(refusal, Err(ShmError::OutOfMemory { .. })), &refusal)?;
    small_file_system()?;
    let memory = SharedMemory::create("beside", ASKED)?;
    same("shared memory beside it", memory.len_bytes(), ASKED)?;
    promised()
}

/// Makes `/dev/shm` of this process one of 1 MiB.
fn small_file_system() -> Result<(), Trouble> {
    let (user, group) = (getuid(), getgid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS).map_err(denied)?;
    for (file, text) in
        [("setgroups", "deny".to_owned()), ("uid_map", format!("0 {user} 1")), ("gid_map", format!("0 {group} 1"))]
    {
        fs::write(Path::new("/proc/self").join(file), text).map_err(denied)?;
    }
    mount(Some("tmpfs"), "/dev/shm", Some("tmpfs"), MsFlags::empty(), Some("size=1m")).map_err(denied)?;
    let space = limits::shared_memory_space()?.map(|space| space.size);
    same("the file system", space, Some(HAS))
}

fn denied(why: impl Display) -> Trouble {
    Trouble::not_here(format!("a tmpfs of 1 MiB takes a user namespace: {why}"))
}

/// A file that promises more than its file system has.
fn promised() -> Result<(), Trouble> {
    let path = "/dev/shm/promised";
    let mut file = OpenOptions::new().read(true).write(true).create_new(true).open(path);
    let file: &mut File =
        file.as_mut().map_err(|error| Trouble::System { call: "open", source: error.kind().into() })?;
    file.set_len(ASKED as u64).map_err(Trouble::system("ftruncate"))?;
    let written = file.write_all(&vec![1; ASKED]).map_err(|error| error.raw_os_error());
    same("writing all of it", written, Err(Some(Errno::ENOSPC as i32)))?;
    let reserved = fallocate(&*file, FallocateFlags::empty(), 0, ASKED as i64);
    same("asking for all of it at once", reserved, Err(Errno::ENOSPC))?;
    let taken =
        SharedMemory::from_fd(OwnedFd::from(file.try_clone().map_err(Trouble::system("dup"))?), ASKED).map(drop);
    same("taking it for shared memory", taken, Err(ShmError::NotSealed))
}
