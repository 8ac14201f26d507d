use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::thread;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use peermap_memory::{Budget, HostMemory, MemoryError, Part};

use crate::setup::{PAGE, budget, duplicate};

#[test]
fn a_charge_beyond_the_limit_is_refused_whole() {
    let budget = budget(100);
    assert_eq!(budget.charge(60), Ok(()));
    assert_eq!(budget.charge(41), Err(HostMemory { needed: 41, used: 60, limit: 100 }));
    assert_eq!(budget.charge(u64::MAX), Err(HostMemory { needed: u64::MAX, used: 60, limit: 100 }));
    assert_eq!(budget.charge(40), Ok(()));
    budget.credit(100);
    assert_eq!((budget.used(), budget.limit()), (0, 100));
}

#[test]
fn both_ends_of_a_descriptor_count_together() {
    let here = budget(10);
    let there = Budget::from_fd(duplicate(&here)).unwrap();
    here.charge(6).unwrap();
    assert_eq!(there.charge(6), Err(HostMemory { needed: 6, used: 6, limit: 10 }));
    there.credit(5);
    assert_eq!(here.used(), 1);
}

#[test]
fn many_threads_never_charge_beyond_the_limit() {
    let budget = budget(1000);
    let granted: usize = thread::scope(|scope| {
        let charge = || (0..1000).filter(|_| budget.charge(1).is_ok()).count();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(charge)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((granted, budget.used()), (1000, 1000));
}

#[test]
#[should_panic(expected = "credited")]
fn crediting_more_than_was_charged_is_a_bug() {
    budget(10).credit(1);
}

#[test]
fn the_descriptor_is_named_and_closed_on_exec() {
    let budget = budget(10);
    let flags = fcntl(budget.as_fd(), FcntlArg::F_GETFD).unwrap();
    assert!(FdFlag::from_bits_retain(flags).contains(FdFlag::FD_CLOEXEC));
    let link = format!("/proc/self/fd/{}", budget.as_fd().as_raw_fd());
    let name = std::fs::read_link(link).unwrap();
    assert!(name.to_string_lossy().contains("memfd:peermap-budget"), "{name:?}");
}

#[test]
fn a_foreign_descriptor_is_refused() {
    let null: OwnedFd = File::open("/dev/null").unwrap().into();
    assert!(matches!(Budget::from_fd(null), Err(MemoryError::Inspect { part: Part::Budget, .. })));
}

#[test]
fn a_file_that_can_still_shrink_is_refused() {
    use nix::sys::memfd::{MFdFlags, memfd_create};
    let file = memfd_create("peermap-test", MFdFlags::MFD_CLOEXEC).unwrap();
    nix::unistd::ftruncate(&file, PAGE as i64).unwrap();
    assert_eq!(Budget::from_fd(file).unwrap_err(), MemoryError::Unsealed { part: Part::Budget });
}
