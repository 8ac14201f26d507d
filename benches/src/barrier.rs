//! Rounds of a barrier between processes.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use peermap_ipc::{Barrier, Channel, Child, Member, SharedMemory, TypedChannel, take_inherited};

use crate::spinning::{self, Spinning};
use crate::worker::{patience, spawn};

pub(crate) const ROLE: &str = "barrier";

const MEMORY: i32 = 3;
const ORDERS: i32 = 4;

/// Rounds of one order. What the worker answers has to fit one message.
const ROUNDS_AT_ONCE: u32 = 4000;

/// Which barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `peermap_ipc::Member::wait`.
    Sleeping,
    /// A counter and a sense in shared memory, and members that spin without giving up their core.
    Spinning,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Sleeping => "sleeping",
            Self::Spinning => "spinning",
        }
    }
}

/// Processes that meet at a barrier when they are told to. They end when this is dropped.
pub struct Crew {
    orders: Vec<TypedChannel<u32, Vec<u64>>>,
    _workers: Vec<Child>,
}

impl Crew {
    /// Starts `members` processes.
    ///
    /// # Panics
    /// If the host has no process or descriptor left.
    #[must_use]
    pub fn start(kind: Kind, members: u32) -> Self {
        let memory = memory_of(kind, members);
        let (orders, workers) = (0..members)
            .map(|member| {
                let (ours, theirs) = Channel::pair().expect("a descriptor is free");
                let parameters = [kind.name().to_owned(), member.to_string(), members.to_string()];
                let memory = memory.try_clone().expect("a descriptor is free");
                let worker = spawn(ROLE, &parameters).inherit(memory, MEMORY).inherit(theirs.into_fd(), ORDERS);
                (TypedChannel::new(ours), worker.spawn().expect("a worker can start"))
            })
            .unzip();
        Self { orders, _workers: workers }
    }

    /// How long each of `count` rounds took, from one passage of the first member to its next.
    ///
    /// # Panics
    /// If a worker has died.
    pub fn rounds(&mut self, count: u32) -> Vec<Duration> {
        let mut took = Vec::new();
        let mut left = count;
        while left > 0 {
            let now = left.min(ROUNDS_AT_ONCE);
            for order in &mut self.orders {
                order.send(&now, &[], patience()).expect("every worker lives");
            }
            // The others answer nothing; they have passed the last round when the first has.
            let (nanoseconds, _) = self.orders[0].recv(0, patience()).expect("the first worker lives");
            took.extend(nanoseconds.into_iter().map(Duration::from_nanos));
            left -= now;
        }
        took
    }
}

fn memory_of(kind: Kind, members: u32) -> OwnedFd {
    let copy = |memory: &dyn AsFd| memory.as_fd().try_clone_to_owned().expect("a descriptor is free");
    match kind {
        Kind::Sleeping => copy(&Barrier::create("bench", members).expect("memory is there")),
        Kind::Spinning => copy(&SharedMemory::create("bench", spinning::BYTES).expect("memory is there")),
    }
}

/// A member of either barrier.
enum AnyMember {
    Sleeping(Member),
    Spinning(Spinning),
}

impl AnyMember {
    fn wait(&mut self) {
        match self {
            Self::Sleeping(member) => member.wait(patience()).expect("all members live"),
            Self::Spinning(member) => member.wait(),
        }
    }
}

/// A worker: meets the others as often as it is told, and the first tells how long each round took.
pub(crate) fn play(parameters: &[String]) {
    let [kind, member, members] = parameters else { panic!("a barrier worker has three parameters") };
    let number: u32 = member.parse().expect("a number");
    let members: u32 = members.parse().expect("a number");
    let memory = take_inherited(MEMORY).expect("the parent handed it over");
    let mut member = if kind == Kind::Sleeping.name() {
        AnyMember::Sleeping(Barrier::join(memory, number, members).expect("the barrier is ours"))
    } else {
        let memory = SharedMemory::from_fd(memory, spinning::BYTES).expect("the memory is ours");
        AnyMember::Spinning(Spinning::join(memory, members))
    };
    let orders = take_inherited(ORDERS).expect("the parent handed it over");
    let mut orders: TypedChannel<Vec<u64>, u32> = TypedChannel::new(Channel::from_fd(orders).expect("a channel"));
    while let Ok((rounds, _)) = orders.recv(0, peermap_ipc::Deadline::NEVER) {
        let took = meet(&mut member, rounds);
        if number == 0 {
            orders.send(&took, &[], patience()).expect("the parent lives");
        }
    }
}

/// Nanoseconds of each round. The first, which waits for the others to get their orders, does not count.
fn meet(member: &mut AnyMember, rounds: u32) -> Vec<u64> {
    member.wait();
    let mut passed = Instant::now();
    (0..rounds)
        .map(|_| {
            member.wait();
            let before = std::mem::replace(&mut passed, Instant::now());
            u64::try_from((passed - before).as_nanos()).unwrap_or(u64::MAX)
        })
        .collect()
}
