//! Descriptors between processes, and the limits that the kernel sets.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::stat::fstat;
use nix::unistd::{Gid, Uid, ftruncate, setresgid, setresuid};
use peermap_ipc::limits::{open_descriptors, open_files, raise_open_files};
use peermap_ipc::{Channel, Deadline, Exit, IpcError, LimitError, MAX_FDS_PER_MESSAGE, TypedChannel};

use crate::roles::{inherited_channel, patience, role};

const NOBODY: u32 = 65_534;
const DESCRIPTORS: usize = 40;
const BATCH: usize = 16;

/// The kernel counts descriptors in flight per user, so a test that exhausts them would break one that needs some.
static IN_FLIGHT: Mutex<()> = Mutex::new(());

/// No other test has many descriptors in flight until this is dropped.
pub fn alone() -> MutexGuard<'static, ()> {
    IN_FLIGHT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives up all privileges, and all but 64 open files.
fn become_ordinary() {
    setrlimit(Resource::RLIMIT_NOFILE, 64, 64).unwrap();
    if Uid::effective().is_root() {
        let (group, user) = (Gid::from_raw(NOBODY), Uid::from_raw(NOBODY));
        setresgid(group, group, group).unwrap();
        setresuid(user, user, user).unwrap();
    }
}

fn null() -> OwnedFd {
    File::open("/dev/null").expect("there is a null device").into()
}

pub fn forty_pass_in_batches_between_ordinary_users_with_64_open_files() {
    let _alone = alone();
    let (one, other) = Channel::pair().unwrap();
    let mut sender = role("batch_sender", "").inherit(one.into_fd(), 3).spawn().unwrap();
    let mut receiver = role("batch_receiver", "").inherit(other.into_fd(), 3).spawn().unwrap();
    assert_eq!(receiver.wait(patience()).unwrap(), Exit::Code(0));
    assert_eq!(sender.wait(patience()).unwrap(), Exit::Code(0));
}

pub fn play_batch_sender() {
    become_ordinary();
    let files: Vec<OwnedFd> = (0..DESCRIPTORS).map(|_| memfd_create("file", MFdFlags::MFD_CLOEXEC).unwrap()).collect();
    for (number, file) in files.iter().enumerate() {
        ftruncate(file, number as i64).unwrap();
    }
    let borrowed: Vec<BorrowedFd<'_>> = files.iter().map(AsFd::as_fd).collect();
    let mut channel = TypedChannel::<(), ()>::new(inherited_channel(3));
    // Five times as many as may be open or in flight at once.
    for _ in 0..8 {
        channel.send_fds(&borrowed, BATCH, patience()).unwrap();
    }
}

pub fn play_batch_receiver() {
    become_ordinary();
    let mut channel = TypedChannel::<(), ()>::new(inherited_channel(3));
    for _ in 0..8 {
        let files = channel.recv_fds(DESCRIPTORS, patience()).unwrap();
        let numbers: Vec<usize> = files.iter().map(|file| fstat(file).unwrap().st_size as usize).collect();
        assert_eq!(numbers, (0..DESCRIPTORS).collect::<Vec<_>>());
    }
}

pub fn an_ordinary_user_with_too_many_in_flight_is_told() {
    let _alone = alone();
    let mut child = role("flood", "").spawn().unwrap();
    assert_eq!(child.wait(patience()).unwrap(), Exit::Code(0));
}

pub fn play_flood() {
    become_ordinary();
    let (ours, _theirs) = Channel::pair().unwrap();
    let file = null();
    let refused = (0..100).find_map(|_| ours.send(b"x", &[file.as_fd(); BATCH], Deadline::NEVER).err());
    assert_eq!(refused, Some(IpcError::DescriptorsInFlight { limit: 64 }));
}

pub fn a_receiver_without_free_numbers_is_told_to_raise_the_limit() {
    let mut child = role("truncated", "").spawn().unwrap();
    assert_eq!(child.wait(patience()).unwrap(), Exit::Code(0));
}

pub fn play_truncated() {
    let (ours, theirs) = Channel::pair().unwrap();
    let file = null();
    theirs.send(b"x", &[file.as_fd(); 30], patience()).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, 20, open_files().unwrap().hard).unwrap();
    let before = open_descriptors().unwrap();
    let error = ours.recv(MAX_FDS_PER_MESSAGE, patience()).unwrap_err();
    assert_eq!(error, IpcError::DescriptorsTruncated { received: 20 - before, limit: 20 });
    assert!(error.to_string().contains("ulimit -n"));
    assert_eq!(open_descriptors().unwrap(), before, "those that arrived are closed");
    theirs.send(b"y", &[file.as_fd()], patience()).unwrap();
    assert_eq!(ours.recv(1, patience()).unwrap().fds.len(), 1);
}

pub fn the_limit_is_raised_up_to_the_hard_one() {
    let mut child = role("raise_limit", "").spawn().unwrap();
    assert_eq!(child.wait(patience()).unwrap(), Exit::Code(0));
}

pub fn play_raise_limit() {
    setrlimit(Resource::RLIMIT_NOFILE, 32, 128).unwrap();
    assert_eq!(raise_open_files(100).unwrap().soft, 100);
    assert_eq!(open_files().unwrap().soft, 100);
    let error = raise_open_files(129).unwrap_err();
    assert!(matches!(error, LimitError::OpenFiles { needed: 129, soft: 100, hard: 128 }));
    assert!(error.to_string().contains("ulimit -n 129"));
    assert_eq!(open_files().unwrap().soft, 100);
}

pub fn the_death_of_a_peer_is_a_hang_up() {
    let (ours, theirs) = Channel::pair().unwrap();
    let mut child = role("sleep", "").inherit(theirs.into_fd(), 3).spawn().unwrap();
    child.kill().unwrap();
    assert_eq!(ours.recv(0, patience()).unwrap_err(), IpcError::PeerClosed);
    assert_eq!(ours.send(b"x", &[], patience()), Err(IpcError::PeerClosed));
}

pub fn the_last_words_of_a_peer_are_heard() {
    let (ours, theirs) = Channel::pair().unwrap();
    ours.send(b"never read", &[], patience()).unwrap();
    let mut child = role("last_words", "").inherit(theirs.into_fd(), 3).spawn().unwrap();
    assert_eq!(child.wait(patience()).unwrap(), Exit::Code(0));
    assert_eq!(ours.recv(0, patience()).unwrap().payload, b"last words");
    assert_eq!(ours.recv(0, patience()).unwrap_err(), IpcError::PeerClosed);
}

pub fn play_last_words() {
    inherited_channel(3).send(b"last words", &[], patience()).unwrap();
}
