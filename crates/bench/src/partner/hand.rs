//! The side of who measures.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use peermap_driver::{ByteSize, IpcMemHandle};
use peermap_ipc::{Channel, Child, Deadline, TypedChannel};

use super::order::{Answer, Order};
use crate::error::BenchError;
use crate::rig::Starter;

/// How long one order may take: the longest waits for contexts of busy devices, and for barriers that spin.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that does what it is told. It ends when this is dropped.
pub struct Partner {
    channel: TypedChannel<Order, Answer>,
    /// Behind the channel, whose hang-up lets it end by itself.
    _process: Child,
}

impl Partner {
    /// Starts one and waits until it runs. `with_driver`: it will be told to open a driver.
    ///
    /// # Errors
    /// If it cannot be started, or does not answer.
    pub fn start(starter: &dyn Starter, with_driver: bool) -> Result<Self, BenchError> {
        let (ours, theirs) = Channel::pair()?;
        let process = starter.start(theirs, with_driver)?;
        let mut partner = Self { channel: TypedChannel::new(ours), _process: process };
        match partner.hear()? {
            Answer::Ready => Ok(partner),
            other => Err(unexpected(&other)),
        }
    }

    /// Gives an order without waiting for the answer.
    pub(crate) fn order(&mut self, order: &Order, descriptors: &[BorrowedFd<'_>]) -> Result<(), BenchError> {
        Ok(self.channel.send(order, descriptors, Deadline::after(PATIENCE))?)
    }

    fn hear(&mut self) -> Result<Answer, BenchError> {
        Ok(self.channel.recv(0, Deadline::after(PATIENCE))?.0)
    }

    /// Waits for the answer to an order: how long it took, in nanoseconds by step.
    pub(crate) fn done(&mut self) -> Result<Vec<f64>, BenchError> {
        match self.hear()? {
            Answer::Done(times) => Ok(times),
            other => Err(unexpected(&other)),
        }
    }

    /// Gives an order and waits until it is done.
    pub(crate) fn obey(&mut self, order: &Order) -> Result<Vec<f64>, BenchError> {
        self.order(order, &[])?;
        self.done()
    }

    /// Has it allocate memory that this process can open.
    pub(crate) fn lend(&mut self, size: ByteSize) -> Result<IpcMemHandle, BenchError> {
        self.order(&Order::Lend { size }, &[])?;
        match self.hear()? {
            Answer::Lent(bytes) => {
                let bytes = bytes.try_into().map_err(|_| BenchError::Run("it lent no legacy handle".to_owned()))?;
                Ok(IpcMemHandle(bytes))
            }
            other => Err(unexpected(&other)),
        }
    }
}

fn unexpected(answer: &Answer) -> BenchError {
    match answer {
        Answer::Failed { message, lacks: true } => BenchError::NotHere(message.clone()),
        Answer::Failed { message, lacks: false } => BenchError::Run(format!("the other process: {message}")),
        other => BenchError::Run(format!("the other process answered {other:?}")),
    }
}
