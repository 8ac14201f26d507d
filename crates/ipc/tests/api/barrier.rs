//! The barrier between threads. The tests between processes are in the `processes` target.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use peermap_ipc::{Barrier, BarrierError, Deadline, Member, SharedMemory, ShmError};

use crate::support::{no_time, patience};

fn descriptor(barrier: &Barrier) -> OwnedFd {
    barrier.as_fd().try_clone_to_owned().expect("a descriptor is free")
}

/// A barrier and all its members.
fn barrier(members: u32) -> (Barrier, Vec<Member>) {
    let barrier = Barrier::create("test", members).expect("memory is there");
    let join = |member| Barrier::join(descriptor(&barrier), member, members).expect("the barrier is ours");
    let members = (0..members).map(join).collect();
    (barrier, members)
}

/// Waits until a member has arrived as often as said.
fn await_arrivals(barrier: &Barrier, expected: &[u32]) {
    let deadline = patience();
    while barrier.arrived() != expected {
        assert!(!deadline.has_passed(), "arrived {:?} instead of {expected:?}", barrier.arrived());
        thread::yield_now();
    }
}

#[test]
fn nobody_is_early_in_a_thousand_rounds() {
    const ROUNDS: u32 = 1000;
    let (barrier, members) = barrier(4);
    let progress: Vec<AtomicU32> = (0..4).map(|_| AtomicU32::new(0)).collect();
    thread::scope(|scope| {
        for mut member in members {
            let progress = &progress;
            scope.spawn(move || {
                for round in 1..=ROUNDS {
                    // Relaxed on purpose: the barrier itself has to make this visible.
                    progress[member.number() as usize].store(round, Relaxed);
                    member.wait(patience()).unwrap();
                    assert!(progress.iter().all(|other| (round..=round + 1).contains(&other.load(Relaxed))));
                }
            });
        }
    });
    assert_eq!(barrier.arrived(), [ROUNDS; 4]);
}

#[test]
fn a_barrier_of_one_never_waits() {
    let (barrier, mut members) = barrier(1);
    members[0].wait(no_time()).unwrap();
    members[0].wait(no_time()).unwrap();
    assert_eq!(barrier.arrived(), [2]);
}

#[test]
fn a_timeout_names_who_is_missing_and_stops_those_who_come_later() {
    let (barrier, mut members) = barrier(4);
    let missing = Err(BarrierError::TimedOut { missing: vec![0, 1, 3] });
    assert_eq!(members[2].wait(no_time()), missing);
    assert_eq!(members[0].wait(patience()), missing);
    assert_eq!(members[2].wait(patience()), missing);
    assert_eq!(barrier.arrived(), [0, 0, 1, 0]);
}

#[test]
fn a_timeout_wakes_those_who_sleep() {
    let (barrier, mut members) = barrier(3);
    let mut patient = members.remove(0);
    let mut impatient = members.remove(0);
    let missing = Err(BarrierError::TimedOut { missing: vec![2] });
    thread::scope(|scope| {
        let deadline = patience();
        let sleeper = scope.spawn(move || patient.wait(deadline));
        await_arrivals(&barrier, &[1, 0, 0]);
        assert_eq!(impatient.wait(Deadline::after(Duration::from_millis(1))), missing);
        assert_eq!(sleeper.join().unwrap(), missing);
        assert!(!deadline.has_passed(), "it was woken and did not wake by itself");
    });
}

#[test]
fn poison_wakes_all_who_sleep_and_stays() {
    let (barrier, mut members) = barrier(4);
    let mut late = members.pop().unwrap();
    let died = Err(BarrierError::MemberDied { member: 3 });
    let deadline = patience();
    thread::scope(|scope| {
        let sleepers: Vec<_> =
            members.into_iter().map(|mut member| scope.spawn(move || member.wait(deadline))).collect();
        await_arrivals(&barrier, &[1, 1, 1, 0]);
        barrier.poison(3).unwrap();
        for sleeper in sleepers {
            assert_eq!(sleeper.join().unwrap(), died);
        }
        assert!(!deadline.has_passed(), "they were woken and did not wake by themselves");
    });
    barrier.poison(0).unwrap();
    assert_eq!(late.wait(patience()), died);
    assert_eq!(barrier.arrived(), [1, 1, 1, 0]);
}

#[test]
fn a_number_used_twice_is_refused_in_the_same_round() {
    let (barrier, mut members) = barrier(2);
    let mut first = members.remove(0);
    let mut other = members.remove(0);
    let mut second = Barrier::join(descriptor(&barrier), 0, 2).unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(move || first.wait(patience()));
        await_arrivals(&barrier, &[1, 0]);
        assert_eq!(second.wait(patience()), Err(BarrierError::ArrivedTwice { member: 0 }));
        assert_eq!(other.wait(patience()), Ok(()));
        assert_eq!(waiting.join().unwrap(), Ok(()));
    });
}

#[test]
fn numbers_out_of_range_are_refused() {
    let (barrier, _members) = barrier(2);
    let refused = Barrier::join(descriptor(&barrier), 2, 2).unwrap_err();
    assert_eq!(refused, BarrierError::NoSuchMember { member: 2, members: 2 });
    assert_eq!(barrier.poison(2), Err(BarrierError::NoSuchMember { member: 2, members: 2 }));
    for members in [0, 65_537] {
        let refused = Barrier::create("count", members).unwrap_err();
        assert_eq!(refused, BarrierError::BadMemberCount { members, max: 65_536 });
    }
}

#[test]
fn another_number_of_members_is_refused() {
    let (barrier, _members) = barrier(2);
    let refused = Barrier::join(descriptor(&barrier), 2, 3).unwrap_err();
    assert_eq!(refused, BarrierError::WrongMemberCount { expected: 3, found: 2 });
    let refused = Barrier::join(descriptor(&barrier), 0, 5000).unwrap_err();
    let expected = Barrier::required_bytes(5000);
    assert_eq!(refused, BarrierError::Memory(ShmError::WrongSize { expected, found: 4096 }));
}

#[test]
fn other_shared_memory_is_no_barrier() {
    let memory = SharedMemory::create("other", Barrier::required_bytes(2)).unwrap();
    let refused = Barrier::join(memory.as_fd().try_clone_to_owned().unwrap(), 0, 2).unwrap_err();
    assert_eq!(refused, BarrierError::NotABarrier { found: 0 });
}
