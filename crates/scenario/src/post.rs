//! The worker's end of the channel to its parent.

use std::os::fd::OwnedFd;

use peermap_ipc::{Channel, Deadline, IpcError, MAX_PAYLOAD, TypedChannel};

use crate::calls::Part;
use crate::error::Complaint;
use crate::messages::{Done, Start, Step, ToParent, ToWorker};

/// How many bytes of driver calls go into one message, so that there is room for what stands around them.
const PART: usize = MAX_PAYLOAD / 2;

/// Whoever hears what a worker does.
pub(crate) trait Listener {
    /// A step begins.
    fn step(&mut self, step: Step) -> Result<(), IpcError>;

    /// Something for who wants to know more.
    fn note(&mut self, text: String) -> Result<(), IpcError>;
}

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

    pub(crate) fn done(&mut self, done: Done) -> Result<(), IpcError> {
        self.tell(&ToParent::Done(Box::new(done)))
    }

    pub(crate) fn failed(&mut self, complaint: Complaint) -> Result<(), IpcError> {
        self.tell(&ToParent::Failed(complaint))
    }

    /// Sends all driver calls.
    pub(crate) fn calls(&mut self, mut bytes: &[u8]) -> Result<(), IpcError> {
        loop {
            let (part, rest) = bytes.split_at(bytes.len().min(PART));
            let last = rest.is_empty();
            self.tell(&ToParent::Calls { part: Part(part.to_vec()), last })?;
            if last {
                return Ok(());
            }
            bytes = rest;
        }
    }

    fn tell(&mut self, message: &ToParent) -> Result<(), IpcError> {
        // As above: the parent reads for as long as it lives.
        self.channel.send(message, &[], Deadline::NEVER)
    }
}

impl Listener for Post {
    fn step(&mut self, step: Step) -> Result<(), IpcError> {
        self.tell(&ToParent::Step(step))
    }

    fn note(&mut self, text: String) -> Result<(), IpcError> {
        self.tell(&ToParent::Note(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends so many bytes; gives the length of each part that arrives, after comparing all of them.
    fn parts(count: usize) -> Vec<usize> {
        let (ours, theirs) = Channel::pair().unwrap();
        let mut parent = TypedChannel::<ToWorker, ToParent>::new(ours);
        let sent: Vec<u8> = (0..count).map(|index| (index % 251) as u8).collect();
        let bytes = sent.clone();
        let worker = std::thread::spawn(move || Post::new(theirs).calls(&bytes).unwrap());
        let (mut arrived, mut lengths, mut more) = (Vec::new(), Vec::new(), true);
        while more {
            let (ToParent::Calls { part, last }, _) = parent.recv(0, Deadline::NEVER).unwrap() else {
                panic!("only calls were sent")
            };
            lengths.push(part.0.len());
            arrived.extend(part.0);
            more = !last;
        }
        worker.join().unwrap();
        assert_eq!(arrived, sent);
        lengths
    }

    #[test]
    fn calls_arrive_in_as_many_parts_as_they_need() {
        assert_eq!(parts(0), [0]);
        assert_eq!(parts(10), [10]);
        assert_eq!(parts(PART), [PART]);
        assert_eq!(parts(2 * PART + 1), [PART, PART, 1]);
    }
}
