//! Exported handles as descriptors.
//!
//! An exported handle is the write end of a pipe whose read end stays here. The kernel reports a hang-up on the read end
//! exactly when the last copy of the write end is gone: duplicates, copies in other processes and in socket buffers,
//! and those of killed processes included. A socket pair would not do: whoever holds one can fake a hang-up with
//! `shutdown`.
//!
//! That a descriptor is one of ours is proven by a nonce sent through it. Its inode only says which pipe to look at:
//! inode numbers of pipes are reused.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{IoSlice, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{OFlag, SpliceFFlags, vmsplice};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::pipe2;
use peermap_ipc::whereabouts::{OpenFile, write_ends};
use peermap_model::ExportId;

/// How many hang-ups are taken from the kernel at once.
const HANG_UPS_AT_ONCE: usize = 64;

/// The open exports of a machine.
pub(crate) struct Exports {
    hang_ups: Epoll,
    open: HashMap<ExportId, Kept>,
    by_inode: HashMap<(u64, u64), ExportId>,
}

struct Kept {
    read_end: File,
    inode: (u64, u64),
}

impl Exports {
    pub(crate) fn new() -> Result<Self, Errno> {
        let hang_ups = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        Ok(Self { hang_ups, open: HashMap::new(), by_inode: HashMap::new() })
    }

    /// What becomes readable when a descriptor has gone.
    pub(crate) fn watch(&self) -> BorrowedFd<'_> {
        self.hang_ups.0.as_fd()
    }

    /// Makes the descriptor of an export.
    pub(crate) fn make(&mut self, export: ExportId) -> Result<OwnedFd, Errno> {
        let (read_end, write_end) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
        let inode = inode_of(read_end.as_fd())?;
        // No event is asked for: the kernel reports a hang-up whether asked or not, and nothing else matters.
        self.hang_ups.add(&read_end, EpollEvent::new(EpollFlags::empty(), export.0))?;
        self.open.insert(export, Kept { read_end: File::from(read_end), inode });
        self.by_inode.insert(inode, export);
        Ok(write_end)
    }

    /// The exports whose last descriptor has gone since the last time.
    pub(crate) fn take_gone(&mut self) -> Result<Vec<ExportId>, Errno> {
        let mut gone = Vec::new();
        if self.open.is_empty() {
            return Ok(gone);
        }
        loop {
            let mut events = [EpollEvent::empty(); HANG_UPS_AT_ONCE];
            let count = match self.hang_ups.wait(&mut events, EpollTimeout::ZERO) {
                Err(Errno::EINTR) => continue,
                result => result?,
            };
            for event in &events[..count] {
                let export = ExportId(event.data());
                if let Some(kept) = self.open.remove(&export) {
                    self.by_inode.remove(&kept.inode);
                    self.hang_ups.delete(&kept.read_end)?;
                    gone.push(export);
                }
            }
            if count < HANG_UPS_AT_ONCE {
                return Ok(gone);
            }
        }
    }

    /// In which processes each of some exports is open, as far as this user may look into them. Those on their way are in none.
    pub(crate) fn whereabouts(&self, exports: &BTreeSet<ExportId>) -> BTreeMap<ExportId, Vec<OpenFile>> {
        let inode = |export: &ExportId| self.open.get(export).map(|kept| (kept.inode.1, *export));
        let pipes: BTreeMap<u64, ExportId> = exports.iter().filter_map(inode).collect();
        let found = write_ends(&pipes.keys().copied().collect());
        found.into_iter().filter_map(|(pipe, files)| Some((*pipes.get(&pipe)?, files))).collect()
    }

    /// Which export a descriptor is, if it is one.
    ///
    /// What is no pipe is refused before anything is written, and nothing here can block.
    pub(crate) fn identify(&mut self, descriptor: BorrowedFd<'_>) -> Option<ExportId> {
        let inode = inode_of(descriptor).ok()?;
        let export = *self.by_inode.get(&inode)?;
        let kept = self.open.get_mut(&export)?;
        drain(&mut kept.read_end);
        let nonce = RandomState::new().build_hasher().finish().to_le_bytes();
        // Whoever has another copy may have made all of them block, and fill the pipe at this moment. vmsplice(2) does not
        // wait for room even so.
        let written = vmsplice(descriptor, &[IoSlice::new(&nonce)], SpliceFFlags::SPLICE_F_NONBLOCK).ok()?;
        if written != nonce.len() {
            return None;
        }
        let mut received = [0; 8];
        kept.read_end.read_exact(&mut received).ok()?;
        (received == nonce).then_some(export)
    }
}

/// The identity of a pipe; an error for anything that is no pipe.
fn inode_of(descriptor: BorrowedFd<'_>) -> Result<(u64, u64), Errno> {
    let status = fstat(descriptor)?;
    let kind = SFlag::from_bits_truncate(status.st_mode & SFlag::S_IFMT.bits());
    if kind == SFlag::S_IFIFO { Ok((status.st_dev, status.st_ino)) } else { Err(Errno::EINVAL) }
}

/// Takes out what a stranger may have written into the pipe.
fn drain(read_end: &mut File) {
    let mut junk = [0; 4096];
    while read_end.read(&mut junk).is_ok_and(|count| count > 0) {}
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use nix::fcntl::{FcntlArg, fcntl};

    use super::*;

    #[test]
    fn an_export_is_gone_when_its_last_copy_is() {
        let mut exports = Exports::new().unwrap();
        let first = exports.make(ExportId(7)).unwrap();
        let second = first.try_clone().unwrap();
        drop(first);
        assert_eq!(exports.take_gone().unwrap(), []);
        drop(second);
        assert_eq!(exports.take_gone().unwrap(), [ExportId(7)]);
        assert_eq!(exports.take_gone().unwrap(), []);
    }

    #[test]
    fn a_descriptor_is_known_by_its_nonce_whatever_a_stranger_wrote() {
        let mut exports = Exports::new().unwrap();
        let ours = exports.make(ExportId(1)).unwrap();
        let other = exports.make(ExportId(2)).unwrap();
        let mut pen = File::from(ours.try_clone().unwrap());
        while pen.write(&[7; 4096]).is_ok() {}
        assert_eq!(exports.identify(ours.as_fd()), Some(ExportId(1)));
        assert_eq!(exports.identify(other.as_fd()), Some(ExportId(2)));
    }

    /// The file status flags are those of all copies of a descriptor.
    #[test]
    fn a_copy_that_blocks_and_is_filled_all_the_time_holds_nobody_up() {
        let mut exports = Exports::new().unwrap();
        let ours = exports.make(ExportId(1)).unwrap();
        let mut pen = File::from(ours.try_clone().unwrap());
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    fcntl(&pen, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
                    while pen.write(&[7; 4096]).is_ok() {}
                    fcntl(&pen, FcntlArg::F_SETFL(OFlag::empty())).unwrap();
                    thread::yield_now();
                }
            });
            for _ in 0..20_000 {
                let known = exports.identify(ours.as_fd());
                assert!(known.is_none_or(|export| export == ExportId(1)));
            }
            over.store(true, Ordering::Relaxed);
        });
        assert_eq!(exports.identify(ours.as_fd()), Some(ExportId(1)));
    }

    #[test]
    fn what_is_no_export_is_refused_without_blocking() {
        let mut exports = Exports::new().unwrap();
        let _ours = exports.make(ExportId(1)).unwrap();
        let (read_end, write_end) = pipe2(OFlag::O_CLOEXEC).unwrap();
        let (socket, _peer) = UnixStream::pair().unwrap();
        let null = File::open("/dev/null").unwrap();
        for descriptor in [read_end.as_fd(), write_end.as_fd(), socket.as_fd(), null.as_fd()] {
            assert_eq!(exports.identify(descriptor), None);
        }
    }

    #[test]
    fn many_at_once_are_all_noticed() {
        let mut exports = Exports::new().unwrap();
        let made: Vec<_> = (0..200).map(|id| exports.make(ExportId(id)).unwrap()).collect();
        drop(made);
        assert_eq!(exports.take_gone().unwrap().len(), 200);
    }
}
