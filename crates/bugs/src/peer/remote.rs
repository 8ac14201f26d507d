//! A second process that is an OS process of its own.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use peermap_driver::{CuResult, Driver, DriverError};
use peermap_ipc::{Channel, Child, Deadline, IpcError, TypedChannel};

use super::hand::Hand;
use super::order::{Answer, Order};
use super::{Asked, Peer};
use crate::play::{Launch, Task};
use crate::process::Process;
use crate::trouble::Trouble;

/// How long one order may take: the first one loads a driver.
const PATIENCE: Duration = Duration::from_secs(30);

/// A process at the other end of a channel.
pub(crate) struct Remote {
    line: TypedChannel<Order, Answer>,
    /// Behind the channel, whose hang-up lets it end by itself.
    child: Child,
}

impl Remote {
    pub(crate) fn start(launch: &Launch, visible: Option<&str>) -> Result<Self, Trouble> {
        let (channel, child) = launch.start(&Task::Peer, visible)?;
        Ok(Self { line: TypedChannel::new(channel), child })
    }
}

impl Peer for Remote {
    fn obey(&mut self, order: &Order) -> Asked<(Answer, Option<OwnedFd>)> {
        self.line.send(order, &[], Deadline::after(PATIENCE))?;
        match self.line.recv(1, Deadline::after(PATIENCE))? {
            (Answer::Refused(code), _) => Ok(Err(DriverError::refused(CuResult::new(code)))),
            (Answer::Failed(why), _) => Err(Trouble::NoDriver(why)),
            (answer, beside) => Ok(Ok((answer, beside.into_iter().next()))),
        }
    }

    fn kill(mut self: Box<Self>) -> Result<(), Trouble> {
        self.child.kill()?;
        self.child.wait(Deadline::after(PATIENCE))?;
        Ok(())
    }
}

/// The side of that process: obeys until the other end hangs up.
pub(crate) fn serve(channel: Channel, driver: Result<Box<dyn Driver>, String>) -> Result<(), IpcError> {
    let mut line: TypedChannel<Answer, Order> = TypedChannel::new(channel);
    let hand = driver.and_then(|driver| Process::real(driver).map_err(|trouble| trouble.to_string()));
    let hand = hand.map(Hand::new);
    loop {
        let order = match line.recv(0, Deadline::NEVER) {
            Ok((order, _)) => order,
            Err(IpcError::PeerClosed) => return Ok(()),
            Err(error) => return Err(error),
        };
        let (answer, beside) = match hand.as_ref().map(|hand| hand.answer(&order)) {
            Ok(Ok(answered)) => answered,
            Ok(Err(error)) => (error.result().map_or(Answer::Failed(error.to_string()), code), None),
            Err(why) => (Answer::Failed(why.clone()), None),
        };
        let beside: Vec<_> = beside.iter().map(AsFd::as_fd).collect();
        line.send(&answer, &beside, Deadline::NEVER)?;
    }
}

fn code(result: CuResult) -> Answer {
    Answer::Refused(result.code())
}
