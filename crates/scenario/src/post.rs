//! The worker's end of the channel to its parent.

use std::cell::RefCell;
use std::os::fd::OwnedFd;

use peermap_ipc::{Channel, Deadline, IpcError, MAX_PAYLOAD, Member, TypedChannel};

use crate::calls::Part;
use crate::error::Complaint;
use crate::messages::{Done, Start, Step, Supplies, ToParent, ToWorker};
use crate::transport::{Carrier, Transport, TransportError};
use crate::worker::WorkerError;

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
    channel: RefCell<TypedChannel<ToParent, ToWorker>>,
}

/// What the parent wants.
pub(crate) enum Order {
    /// Do this; with the descriptor of the barrier, if the role has one.
    Start(Start, Option<OwnedFd>),
    /// Go.
    Dismissed,
}

/// What the parent makes for its workers, while they get ready for it.
pub(crate) struct Delivery<'p> {
    post: &'p Post,
    deadline: Deadline,
}

/// What the parent made.
pub(crate) struct Delivered {
    /// In the order in which the parent's side of the scenario names them.
    pub(crate) descriptors: Vec<OwnedFd>,
    carrier: Carrier,
}

impl Delivery<'_> {
    /// Waits for it.
    pub(crate) fn receive(self) -> Result<Delivered, WorkerError> {
        let Supplies { descriptors, carrier } = self.post.ask(self.deadline)?.ok_or(WorkerError::NoHandles)?;
        let descriptors = self.post.channel.borrow_mut().recv_fds(descriptors as usize, self.deadline)?;
        Ok(Delivered { descriptors, carrier })
    }
}

impl Delivered {
    /// The way by which the handles of all workers get to this one.
    pub(crate) fn transport(self, member: Member, workers: u32) -> Result<Box<dyn Transport>, TransportError> {
        self.carrier.make(self.descriptors, member, workers)
    }
}

impl Post {
    pub(crate) fn new(channel: Channel) -> Self {
        Self { channel: RefCell::new(TypedChannel::new(channel)) }
    }

    pub(crate) fn ready(&self, init_ms: f64) -> Result<(), IpcError> {
        self.tell(&ToParent::Ready { init_ms })
    }

    /// Waits for the order.
    pub(crate) fn order(&self) -> Result<Order, IpcError> {
        // The parent has the deadline of the run. Its end, whatever the reason, closes the channel.
        let (message, mut fds) = self.channel.borrow_mut().recv(1, Deadline::NEVER)?;
        Ok(match message {
            ToWorker::Start(start) => Order::Start(start, fds.pop()),
            // An order comes before what is shared, and nobody has asked for that yet.
            ToWorker::Dismiss | ToWorker::Supplies(_) => Order::Dismissed,
        })
    }

    /// What comes of the parent's work until a deadline.
    pub(crate) fn delivery(&self, deadline: Deadline) -> Delivery<'_> {
        Delivery { post: self, deadline }
    }

    /// Asks for what is shared. `None`: the parent answers something else.
    fn ask(&self, deadline: Deadline) -> Result<Option<Supplies>, IpcError> {
        self.tell(&ToParent::Ask)?;
        let (message, _) = self.channel.borrow_mut().recv(0, deadline)?;
        Ok(match message {
            ToWorker::Supplies(supplies) => Some(supplies),
            ToWorker::Start(_) | ToWorker::Dismiss => None,
        })
    }

    pub(crate) fn done(&self, done: Done) -> Result<(), IpcError> {
        self.tell(&ToParent::Done(Box::new(done)))
    }

    pub(crate) fn failed(&self, complaint: Complaint) -> Result<(), IpcError> {
        self.tell(&ToParent::Failed(complaint))
    }

    /// Sends all driver calls.
    pub(crate) fn calls(&self, mut bytes: &[u8]) -> Result<(), IpcError> {
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

    fn tell(&self, message: &ToParent) -> Result<(), IpcError> {
        // As above: the parent reads for as long as it lives.
        self.channel.borrow_mut().send(message, &[], Deadline::NEVER)
    }
}

impl Listener for &Post {
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
