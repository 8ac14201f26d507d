//! In which processes a pipe is open, and which were started with a variable.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A descriptor of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenFile {
    /// The process.
    pub pid: u32,
    /// Its descriptor.
    pub fd: i32,
}

/// The bit of a link in `/proc/PID/fd` that says that the file can be written.
const WRITABLE: u32 = 0o200;

/// Where the write ends of pipes are open, by the inode numbers of the pipes: in which of the processes that this user may look into.
///
/// A pipe that has a write end and is in no process is on its way: a message with it has been sent and not yet received.
#[must_use]
pub fn write_ends(pipes: &BTreeSet<u64>) -> BTreeMap<u64, Vec<OpenFile>> {
    let mut found: BTreeMap<u64, Vec<OpenFile>> = BTreeMap::new();
    if pipes.is_empty() {
        return found;
    }
    for pid in processes() {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        for (fd, path) in files.filter_map(|file| Some((file.file_name().to_str()?.parse().ok()?, file.path()))) {
            let pipe = fs::read_link(&path).ok().and_then(|target| inode(target.to_str()?));
            let Some(pipe) = pipe.filter(|pipe| pipes.contains(pipe)) else { continue };
            let can_write = |link: fs::Metadata| link.permissions().mode() & WRITABLE != 0;
            if fs::symlink_metadata(&path).is_ok_and(can_write) {
                found.entry(pipe).or_default().push(OpenFile { pid, fd });
            }
        }
    }
    found.values_mut().for_each(|files| files.sort_unstable());
    found
}

/// The processes that were started with this value of an environment variable: by a process that has it, or by one of those. Of those that this user
/// may look into.
#[must_use]
pub fn started_with(variable: &str, value: &str) -> Vec<u32> {
    let wanted = format!("{variable}={value}");
    let has_it = |pid: &u32| {
        // A process that has ended has no environment, even if nobody has waited for it.
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
    };
    processes().filter(has_it).collect()
}

/// All processes. One that ends while it is looked into, or that belongs to somebody else, has nothing to show.
fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The pipe that a link of `/proc/PID/fd` leads to.
fn inode(target: &str) -> Option<u64> {
    target.strip_prefix("pipe:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::time::Duration;

    use nix::sys::stat::fstat;

    use super::*;
    use crate::{Channel, Deadline, Output, Spawn};

    #[test]
    fn who_was_started_with_a_variable_has_it_until_its_end() {
        let soon = || Deadline::after(Duration::from_secs(5));
        let value = format!("whereabouts {}", std::process::id());
        let start =
            |exe| Spawn::new(exe).args(["60"]).env("PEERMAP_MARK", &value).stdout(Output::Null).spawn().unwrap();
        let mut child = start("/bin/sleep");
        while started_with("PEERMAP_MARK", &value) != [child.pid()] {
            assert!(child.try_wait().unwrap().is_none(), "it sleeps for a minute");
        }
        assert_eq!(started_with("PEERMAP_MARK", &value[1..]), []);
        child.kill().unwrap();
        child.wait(soon()).unwrap();
        assert_eq!(started_with("PEERMAP_MARK", &value), []);
    }

    #[test]
    fn a_write_end_is_where_it_is_open_and_nowhere_while_it_is_on_its_way() {
        let soon = || Deadline::after(Duration::from_secs(5));
        let (reader, writer) = std::io::pipe().unwrap();
        let pipe = fstat(&reader).unwrap().st_ino;
        let places = || write_ends(&BTreeSet::from([pipe])).remove(&pipe).unwrap_or_default();
        let here = |fd: i32| OpenFile { pid: std::process::id(), fd };
        assert_eq!(places(), [here(writer.as_raw_fd())], "and the read end does not count");
        let (one, other) = Channel::pair().unwrap();
        one.send(b"take this", &[std::os::fd::AsFd::as_fd(&writer)], soon()).unwrap();
        drop(writer);
        assert_eq!(places(), []);
        let received = other.recv(1, soon()).unwrap().fds;
        assert_eq!(places(), [here(received[0].as_raw_fd())]);
        drop(received);
        assert_eq!(places(), []);
    }
}
