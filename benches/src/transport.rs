//! Messages with descriptors to another process and back.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use peermap_ipc::{Channel, Child, Deadline, MAX_FDS_PER_MESSAGE};

use crate::worker::{patience, spawn};

pub(crate) const ROLE: &str = "transport";

const SOCKET: i32 = 3;

/// A process that answers each message once it has closed the descriptors that came with it. It ends when this is
/// dropped.
pub struct Echo {
    channel: Channel,
    sent: OwnedFd,
    _worker: Child,
}

impl Echo {
    /// Starts the process.
    ///
    /// # Panics
    /// If the host has no process or descriptor left.
    #[must_use]
    pub fn start() -> Self {
        let (worker, channel) = spawn(ROLE).connect(SOCKET).expect("a descriptor is free");
        let sent = channel.as_fd().try_clone_to_owned().expect("a descriptor is free");
        let worker = worker.spawn().expect("a worker can start");
        Self { channel, sent, _worker: worker }
    }

    /// Sends one message with `count` descriptors, all of one open file, and waits for the answer.
    ///
    /// # Panics
    /// If the other process has died, or `count` is more than a message can carry.
    pub fn round_trip(&self, count: usize) {
        let descriptors: Vec<BorrowedFd<'_>> = vec![self.sent.as_fd(); count];
        self.channel.send(b"take", &descriptors, patience()).expect("the worker lives");
        self.channel.recv(0, patience()).expect("the worker lives");
    }
}

pub(crate) fn play() {
    let channel = Channel::to_parent(SOCKET).expect("the parent handed it over");
    while let Ok(received) = channel.recv(MAX_FDS_PER_MESSAGE, Deadline::NEVER) {
        drop(received);
        channel.send(b"taken", &[], patience()).expect("the parent lives");
    }
}
