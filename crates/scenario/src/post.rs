//! The worker's end of the channel to its parent.

use std::os::fd::OwnedFd;

use peermap_ipc::{Channel, Deadline, IpcError, TypedChannel};

use crate::error::Complaint;
use crate::messages::{Done, Start, Step, ToParent, ToWorker};

/// The worker's end of the channel to its parent.
pub(crate) struct Post {
    channel: TypedChannel<ToParent, ToWorker>,
}

/// What the parent wants.
pub(crate) enum Order {
    /// Do this; with the descriptor of the barrier, if the role has one.
    Start(Start, Option<OwnedFd>),
    /// Go.
    Dismissed,
}

impl Post {
    pub(crate) fn new(channel: Channel) -> Self {
        Self { channel: TypedChannel::new(channel) }
    }

    pub(crate) fn ready(&mut self, init_ms: f64) -> Result<(), IpcError> {
        self.tell(&ToParent::Ready { init_ms })
    }

    /// Waits for the order.
    pub(crate) fn order(&mut self) -> Result<Order, IpcError> {
        // The parent has the deadline of the run. Its end, whatever the reason, closes the channel.
        let (message, mut fds) = self.channel.recv(1, Deadline::NEVER)?;
        Ok(match message {
            ToWorker::Start(start) => Order::Start(start, fds.pop()),
            ToWorker::Dismiss => Order::Dismissed,
        })
    }

    /// Receives the descriptors that follow the order.
    pub(crate) fn descriptors(&mut self, count: usize, deadline: Deadline) -> Result<Vec<OwnedFd>, IpcError> {
        self.channel.recv_fds(count, deadline)
    }

    pub(crate) fn step(&mut self, step: Step) -> Result<(), IpcError> {
        self.tell(&ToParent::Step(step))
    }

    pub(crate) fn note(&mut self, text: String) -> Result<(), IpcError> {
        self.tell(&ToParent::Note(text))
    }

    pub(crate) fn done(&mut self, done: Done) -> Result<(), IpcError> {
        self.tell(&ToParent::Done(done))
    }

    pub(crate) fn failed(&mut self, complaint: Complaint) -> Result<(), IpcError> {
        self.tell(&ToParent::Failed(complaint))
    }

    fn tell(&mut self, message: &ToParent) -> Result<(), IpcError> {
        // As above: the parent reads for as long as it lives.
        self.channel.send(message, &[], Deadline::NEVER)
    }
}
