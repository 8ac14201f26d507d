//! Shared memory: what is made, and what is refused.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering::SeqCst;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::unistd::ftruncate;
use peermap_ipc::{SharedMemory, ShmError};

use crate::support::is_close_on_exec;

fn descriptor(memory: &SharedMemory) -> OwnedFd {
    memory.as_fd().try_clone_to_owned().expect("a descriptor is free")
}

fn memfd(len: i64, seals: SealFlag) -> OwnedFd {
    let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
    let fd = memfd_create("foreign", flags).expect("a descriptor is free");
    ftruncate(&fd, len).expect("an empty file can grow");
    fcntl(&fd, FcntlArg::F_ADD_SEALS(seals)).expect("seals can be added");
    fd
}

#[test]
fn two_mappings_show_the_same_zeroed_words() {
    let one = SharedMemory::create("words", 8192).unwrap();
    let other = SharedMemory::from_fd(descriptor(&one), 8192).unwrap();
    assert_eq!((one.len_bytes(), one.atomics().len()), (8192, 2048));
    assert!(one.atomics().iter().all(|word| word.load(SeqCst) == 0));
    one.atomics()[2047].store(7, SeqCst);
    assert_eq!(other.atomics()[2047].load(SeqCst), 7);
}

#[test]
fn the_memory_stays_mapped_when_its_maker_is_gone_and_goes_with_the_last() {
    let one = SharedMemory::create("gone-test", 4096).unwrap();
    let other = SharedMemory::from_fd(descriptor(&one), 4096).unwrap();
    let mapped = || std::fs::read_to_string("/proc/self/maps").unwrap().matches("peermap-gone-test").count();
    assert_eq!(mapped(), 2);
    one.atomics()[0].store(1, SeqCst);
    drop(one);
    assert_eq!((other.atomics()[0].load(SeqCst), mapped()), (1, 1));
    drop(other);
    assert_eq!(mapped(), 0);
}

#[test]
fn nobody_can_change_the_size() {
    let memory = SharedMemory::create("sealed", 4096).unwrap();
    assert!(is_close_on_exec(&memory));
    assert_eq!(ftruncate(memory.as_fd(), 0), Err(Errno::EPERM));
    assert_eq!(ftruncate(memory.as_fd(), 8192), Err(Errno::EPERM));
    let seal = fcntl(memory.as_fd(), FcntlArg::F_ADD_SEALS(SealFlag::F_SEAL_WRITE));
    assert_eq!(seal, Err(Errno::EPERM));
}

#[test]
fn memory_of_another_size_is_refused() {
    let memory = SharedMemory::create("size", 4096).unwrap();
    let refused = SharedMemory::from_fd(descriptor(&memory), 8192).unwrap_err();
    assert_eq!(refused, ShmError::WrongSize { expected: 8192, found: 4096 });
}

#[test]
fn memory_that_can_shrink_or_grow_is_refused() {
    for seals in [SealFlag::empty(), SealFlag::F_SEAL_SHRINK, SealFlag::F_SEAL_GROW] {
        assert_eq!(SharedMemory::from_fd(memfd(4096, seals), 4096).unwrap_err(), ShmError::NotSealed);
    }
}

#[test]
fn a_file_and_a_device_are_no_shared_memory() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(4096).unwrap();
    let device = File::open("/dev/zero").unwrap();
    for fd in [OwnedFd::from(file), OwnedFd::from(device)] {
        assert!(SharedMemory::from_fd(fd, 4096).is_err());
    }
}

#[test]
fn memory_that_cannot_be_written_is_refused() {
    let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_WRITE;
    let refused = SharedMemory::from_fd(memfd(4096, seals), 4096).unwrap_err();
    assert_eq!(refused, ShmError::System { call: "mmap", source: Errno::EPERM });
}

#[test]
fn lengths_that_cannot_be_are_refused() {
    for len in [0, 6, usize::MAX - 3] {
        assert_eq!(SharedMemory::create("length", len).unwrap_err(), ShmError::BadLength { len });
    }
}

#[test]
fn more_than_the_host_has_is_an_error_at_creation() {
    let len = 1 << 50;
    let refused = SharedMemory::create("huge", len).unwrap_err();
    assert!(matches!(refused, ShmError::OutOfMemory { len: asked, available } if asked == len && available < 1 << 50));
}

#[test]
fn labels_that_the_kernel_does_not_take_are_refused() {
    for label in ["a\0b".to_owned(), "x".repeat(242)] {
        let refused = SharedMemory::create(&label, 4096).unwrap_err();
        assert_eq!(refused, ShmError::BadLabel { label });
    }
    assert!(SharedMemory::create(&"x".repeat(241), 4096).is_ok());
}
