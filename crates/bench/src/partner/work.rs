//! The partner's side.

use std::collections::HashMap;
use std::os::fd::OwnedFd;

use peermap_driver::{Context, Driver, Uuid};
use peermap_ipc::{Channel, Deadline, IpcError, TypedChannel};

use super::order::{Answer, Order};
use super::share::Shared;
use crate::barrier::AnyMember;
use crate::clock::timed;
use crate::error::BenchError;

/// The partner's side: does what it is told until nobody is there to tell it any more. The command's hidden subcommand calls
/// it with the channel that it inherited, and with a way to open a driver.
///
/// Gives the exit code of the process: 0, or 1 if the channel failed.
pub fn partner_main(channel: Channel, open: impl FnOnce() -> Result<Box<dyn Driver>, String>) -> i32 {
    match serve(TypedChannel::new(channel), open) {
        // The hang-up of who measures is how a partner ends.
        Ok(()) | Err(IpcError::PeerClosed) => 0,
        Err(_) => 1,
    }
}

fn serve(
    mut channel: TypedChannel<Answer, Order>,
    open: impl FnOnce() -> Result<Box<dyn Driver>, String>,
) -> Result<(), IpcError> {
    channel.send(&Answer::Ready, &[], Deadline::NEVER)?;
    let mut desk = Desk { open: Some(open), driver: None, contexts: HashMap::new(), current: None, member: None };
    loop {
        let (order, mut descriptors) = channel.recv(1, Deadline::NEVER)?;
        let answer = desk
            .obey(order, descriptors.pop())
            .unwrap_or_else(|error| Answer::Failed { message: error.to_string(), lacks: error.is_lack() });
        channel.send(&answer, &[], Deadline::NEVER)?;
    }
}

/// What a partner has.
struct Desk<F> {
    open: Option<F>,
    driver: Option<Box<dyn Driver>>,
    /// The contexts, and what is shared in each.
    contexts: HashMap<Uuid, (Context, Shared)>,
    current: Option<Uuid>,
    member: Option<AnyMember>,
}

impl<F: FnOnce() -> Result<Box<dyn Driver>, String>> Desk<F> {
    fn obey(&mut self, order: Order, descriptor: Option<OwnedFd>) -> Result<Answer, BenchError> {
        Ok(match order {
            Order::Init => Answer::Done(vec![self.init()?]),
            Order::Context { device } => Answer::Done(vec![self.context(device)?]),
            Order::Reach(reach) => {
                let (driver, shared) = self.ready()?;
                Answer::Done(shared.reach(driver, reach, descriptor)?)
            }
            Order::LetGo => {
                let (driver, shared) = self.ready()?;
                Answer::Done(shared.let_go(driver)?)
            }
            Order::Lend { size } => {
                let (driver, shared) = self.ready()?;
                Answer::Lent(shared.lend(driver, size)?)
            }
            Order::TakeBack => {
                let (driver, shared) = self.ready()?;
                shared.take_back(driver)?;
                Answer::Done(Vec::new())
            }
            Order::Join { kind, member, members, cores } => {
                let memory =
                    descriptor.ok_or_else(|| BenchError::Run("a barrier came without its memory".to_owned()))?;
                self.member = Some(AnyMember::join(kind, memory, member, members, cores)?);
                Answer::Done(Vec::new())
            }
            Order::Meet { rounds } => {
                let member = self.member.as_mut();
                let member = member.ok_or_else(|| BenchError::Run("there is no barrier to meet at".to_owned()))?;
                Answer::Done(member.meet(rounds)?)
            }
        })
    }

    /// Opens and initialises the driver.
    fn init(&mut self) -> Result<f64, BenchError> {
        let open = self.open.take().ok_or_else(|| BenchError::Run("the driver is open already".to_owned()))?;
        let driver = open().map_err(BenchError::NotHere)?;
        let ((), took) = timed(|| driver.init(0))?;
        self.driver = Some(driver);
        Ok(took)
    }

    fn context(&mut self, uuid: Uuid) -> Result<f64, BenchError> {
        let driver = self.driver.as_deref().ok_or_else(not_ready)?;
        let device = peermap_scenario::find_device(driver, uuid)?;
        let device = device.ok_or_else(|| BenchError::NotHere(format!("no device {uuid} in the other process")))?;
        let took = match self.contexts.get(&uuid) {
            Some((context, _)) => timed(|| driver.ctx_set_current(Some(*context)))?.1,
            None => {
                let (context, took) = timed(|| driver.ctx_create(0, device))?;
                self.contexts.insert(uuid, (context, Shared::on(device)));
                took
            }
        };
        self.current = Some(uuid);
        Ok(took)
    }

    fn ready(&mut self) -> Result<(&dyn Driver, &mut Shared), BenchError> {
        let driver = self.driver.as_deref().ok_or_else(not_ready)?;
        let current = self.current.and_then(|uuid| self.contexts.get_mut(&uuid));
        let (_, shared) = current.ok_or_else(not_ready)?;
        Ok((driver, shared))
    }
}

fn not_ready() -> BenchError {
    BenchError::Run("the other process has no context yet".to_owned())
}
