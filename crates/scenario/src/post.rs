//! The worker's end of the channel to its parent.

use std::os::fd::OwnedFd;

use peermap_ipc::{Channel, Deadline, IpcError, TypedChannel};
use peermap_report::calls::CallRecord;

use crate::calls::without_arguments;
use crate::error::Complaint;
use crate::messages::{Done, Start, Step, ToParent, ToWorker};

/// How many driver calls go into one message, if they fit.
const CALLS: usize = 128;

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

    /// Sends all driver calls.
    pub(crate) fn calls(&mut self, calls: &[CallRecord]) -> Result<(), IpcError> {
        calls.chunks(CALLS).try_for_each(|some| self.some_calls(some))?;
        self.tell(&ToParent::Calls { calls: Vec::new(), last: true })
    }

    /// Sends some in one message, or in halves if they are too long for one.
    fn some_calls(&mut self, calls: &[CallRecord]) -> Result<(), IpcError> {
        let message = |calls| ToParent::Calls { calls, last: false };
        match (self.tell(&message(calls.to_vec())), calls) {
            (Err(IpcError::PayloadTooLarge { .. }), [only]) => self.tell(&message(vec![without_arguments(only)])),
            (Err(IpcError::PayloadTooLarge { .. }), _) => {
                let (first, second) = calls.split_at(calls.len() / 2);
                self.some_calls(first)?;
                self.some_calls(second)
            }
            (told, _) => told,
        }
    }

    fn tell(&mut self, message: &ToParent) -> Result<(), IpcError> {
        // As above: the parent reads for as long as it lives.
        self.channel.send(message, &[], Deadline::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use peermap_report::calls::Argument;

    use super::*;

    /// A call whose only argument has so many bytes.
    fn call(number: u64, bytes: usize) -> CallRecord {
        let arguments = vec![("name".to_owned(), Argument::Text("x".repeat(bytes)))];
        CallRecord { call: "cuMemMap".to_owned(), thread: 1, start_ns: number, duration_ns: 1, arguments, error: None }
    }

    /// The calls as they arrive, and in how many messages.
    fn sent(calls: &[CallRecord]) -> (Vec<CallRecord>, usize) {
        let (ours, theirs) = Channel::pair().unwrap();
        let mut parent = TypedChannel::<ToWorker, ToParent>::new(ours);
        let calls = calls.to_vec();
        let worker = std::thread::spawn(move || Post::new(theirs).calls(&calls).unwrap());
        let (mut arrived, mut messages) = (Vec::new(), 0);
        while let (ToParent::Calls { calls, last: false }, _) = parent.recv(0, Deadline::NEVER).unwrap() {
            arrived.extend(calls);
            messages += 1;
        }
        worker.join().unwrap();
        (arrived, messages)
    }

    #[test]
    fn many_calls_arrive_in_their_order_in_as_many_messages_as_they_need() {
        let small: Vec<_> = (0..300).map(|number| call(number, 10)).collect();
        assert_eq!(sent(&small), (small, 3));
        let large: Vec<_> = (0..4).map(|number| call(number, 20_000)).collect();
        assert_eq!(sent(&large), (large, 2));
        assert_eq!(sent(&[]), (Vec::new(), 0));
    }

    #[test]
    fn a_call_that_fits_no_message_loses_its_arguments_only() {
        let (arrived, _) = sent(&[call(0, 10), call(1, 100_000), call(2, 10)]);
        let starts: Vec<u64> = arrived.iter().map(|call| call.start_ns).collect();
        assert_eq!(starts, [0, 1, 2]);
        assert_eq!(
            arrived[1].arguments,
            [("arguments".to_owned(), Argument::Text("left out, they are too long".to_owned()))]
        );
    }
}
