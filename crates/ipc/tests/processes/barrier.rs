//! The barrier between processes.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use peermap_ipc::{Barrier, BarrierError, Child, Deadline, Exit, SharedMemory};

use crate::roles::{inherited, parameter, patience, role};

const BARRIER: i32 = 3;
const PROGRESS: i32 = 4;
const MEMBERS: u32 = 8;
const ROUNDS: u32 = 1000;

fn copy(fd: &impl AsFd) -> OwnedFd {
    fd.as_fd().try_clone_to_owned().expect("a descriptor is free")
}

fn spawn_once(barrier: &Barrier, member: u32, expected: &str) -> Child {
    let parameter = format!("{member} {expected}");
    role("barrier_once", parameter).inherit(copy(barrier), BARRIER).spawn().expect("a child can start")
}

fn await_arrivals(barrier: &Barrier, expected: &[u32]) {
    let deadline = patience();
    while barrier.arrived() != expected {
        assert!(!deadline.has_passed(), "arrived {:?} instead of {expected:?}", barrier.arrived());
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub fn eight_processes_pass_a_thousand_rounds_and_nobody_is_early() {
    let barrier = Barrier::create("rounds", MEMBERS).unwrap();
    let progress = SharedMemory::create("progress", 4096).unwrap();
    let spawn = |member: u32| {
        let child = role("barrier_rounds", member);
        child.inherit(copy(&barrier), BARRIER).inherit(copy(&progress), PROGRESS).spawn().unwrap()
    };
    let mut children: Vec<Child> = (0..MEMBERS).map(spawn).collect();
    for child in &mut children {
        assert_eq!(child.wait(patience()).unwrap(), Exit::Code(0));
    }
    assert_eq!(barrier.arrived(), [ROUNDS; MEMBERS as usize]);
}

pub fn play_rounds() {
    let number: u32 = parameter().parse().unwrap();
    let mut member = Barrier::join(inherited(BARRIER), number, MEMBERS).unwrap();
    let memory = SharedMemory::from_fd(inherited(PROGRESS), 4096).unwrap();
    let progress = &memory.atomics()[..MEMBERS as usize];
    for round in 1..=ROUNDS {
        // Relaxed on purpose: the barrier itself has to make this visible.
        progress[number as usize].store(round, Relaxed);
        member.wait(patience()).unwrap();
        assert!(progress.iter().all(|other| (round..=round + 1).contains(&other.load(Relaxed))));
    }
}

pub fn a_killed_member_is_named_to_all_who_wait() {
    let barrier = Barrier::create("killed", 3).unwrap();
    let mut victim = role("sleep", "").spawn().unwrap();
    let mut waiting = [0, 2].map(|member| spawn_once(&barrier, member, "died 1"));
    await_arrivals(&barrier, &[1, 0, 1]);
    victim.kill().unwrap();
    assert_eq!(victim.wait(patience()).unwrap(), Exit::Signal(libc::SIGKILL));
    barrier.poison(1).unwrap();
    for child in &mut waiting {
        assert_eq!(child.wait(patience()).unwrap(), Exit::Code(0));
    }
}

pub fn a_timeout_names_the_process_that_did_not_come() {
    let barrier = Barrier::create("timeout", 3).unwrap();
    let mut sleeper = spawn_once(&barrier, 0, "missing 1");
    await_arrivals(&barrier, &[1, 0, 0]);
    let mut impatient = Barrier::join(copy(&barrier), 2, 3).unwrap();
    let missing = Err(BarrierError::TimedOut { missing: vec![1] });
    assert_eq!(impatient.wait(Deadline::after(Duration::from_millis(1))), missing);
    assert_eq!(sleeper.wait(patience()).unwrap(), Exit::Code(0));
    let mut late = spawn_once(&barrier, 1, "missing 1");
    assert_eq!(late.wait(patience()).unwrap(), Exit::Code(0));
}

pub fn play_once() {
    let parameter = parameter();
    let (number, expected) = parameter.split_once(' ').unwrap();
    let mut member = Barrier::join(inherited(BARRIER), number.parse().unwrap(), 3).unwrap();
    let outcomes = [
        ("died 1", BarrierError::MemberDied { member: 1 }),
        ("missing 1", BarrierError::TimedOut { missing: vec![1] }),
    ];
    let (_, expected) = outcomes.into_iter().find(|(name, _)| *name == expected).unwrap();
    assert_eq!(member.wait(Deadline::NEVER), Err(expected));
}
