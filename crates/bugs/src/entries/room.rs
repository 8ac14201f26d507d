//! A process at its limit of open files.

use std::collections::BTreeSet;
use std::fs;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::trouble::Trouble;

/// Does something while only so many more descriptors can be opened.
pub(super) fn with_room_for<T>(room: usize, does: impl FnOnce() -> T) -> Result<T, Trouble> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(Trouble::system("getrlimit"))?;
    let limit = first_free(&open_numbers()?, room);
    setrlimit(Resource::RLIMIT_NOFILE, limit, hard).map_err(Trouble::system("setrlimit"))?;
    let done = does();
    setrlimit(Resource::RLIMIT_NOFILE, soft, hard).map_err(Trouble::system("setrlimit"))?;
    Ok(done)
}

/// The number that is free when so many lower ones have been taken.
fn first_free(open: &BTreeSet<u64>, room: usize) -> u64 {
    (0..).filter(|number| !open.contains(number)).nth(room).unwrap_or(u64::MAX)
}

fn open_numbers() -> Result<BTreeSet<u64>, Trouble> {
    let listed = fs::read_dir("/proc/self/fd").map_err(Trouble::system("readdir"))?.flatten();
    let numbers: Vec<u64> = listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    // The descriptor that read the folder is in the list and has been closed since.
    let is_open = |number: &u64| fs::symlink_metadata(format!("/proc/self/fd/{number}")).is_ok();
    Ok(numbers.into_iter().filter(is_open).collect())
}
