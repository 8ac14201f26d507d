//! The side of who measures.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use peermap_driver::{ByteSize, IpcMemHandle};
use peermap_ipc::{Child, Deadline, Event, IpcError, TypedChannel, wait_any};

use super::order::{Answer, Order};
use crate::error::BenchError;
use crate::rig::Starter;

/// How long one order may take: the longest waits for contexts of busy devices, and for barriers that spin.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a process may take to end once it has hung up.
const LAST_BREATH: Duration = Duration::from_secs(1);

/// A process that does what it is told. It ends when this is dropped.
pub struct Partner {
    channel: TypedChannel<Order, Answer>,
    /// Behind the channel, whose hang-up lets it end by itself.
    process: Child,
}

impl Partner {
    /// Starts one and waits until it runs. `with_driver`: it will be told to open a driver.
    ///
    /// # Errors
    /// If it cannot be started, or does not answer.
    pub fn start(starter: &dyn Starter, with_driver: bool) -> Result<Self, BenchError> {
        let (process, channel) = starter.start(with_driver)?;
        let mut partner = Self { channel: TypedChannel::new(channel), process };
        match partner.hear()? {
            Answer::Ready => Ok(partner),
            other => Err(unexpected(&other)),
        }
    }

    /// Gives an order without waiting for the answer.
    pub(crate) fn order(&mut self, order: &Order, descriptors: &[BorrowedFd<'_>]) -> Result<(), BenchError> {
        let sent = self.channel.send(order, descriptors, Deadline::after(PATIENCE));
        sent.map_err(|error| self.cause(error))
    }

    fn hear(&mut self) -> Result<Answer, BenchError> {
        let heard = self.channel.recv(0, Deadline::after(PATIENCE));
        heard.map(|(answer, _)| answer).map_err(|error| self.cause(error))
    }

    /// Why its channel failed: the end of its process, if it has ended.
    fn cause(&mut self, error: IpcError) -> BenchError {
        let pid = self.process.pid();
        let ended = matches!(error, IpcError::PeerClosed).then(|| self.process.wait(Deadline::after(LAST_BREATH)));
        match ended {
            Some(Ok(how)) => BenchError::Died { who: "the other process", pid, how },
            _ => error.into(),
        }
    }

    /// Waits until one of several has something to say or has ended.
    pub(crate) fn first_of(partners: &mut [&mut Self]) -> Result<usize, BenchError> {
        let (mut processes, mut channels) = (Vec::new(), Vec::new());
        for partner in partners.iter_mut() {
            let Self { channel, process } = &mut **partner;
            let channel: &TypedChannel<Order, Answer> = channel;
            processes.push(process);
            channels.push(channel.as_fd());
        }
        let seen = wait_any(&mut processes, &channels, Deadline::after(PATIENCE));
        match seen.map_err(|error| BenchError::Run(format!("waiting for other processes: {error}")))? {
            Event::Readable { fd } => Ok(fd),
            Event::Ended { child, exit } => {
                Err(BenchError::Died { who: "the other process", pid: processes[child].pid(), how: exit })
            }
        }
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
