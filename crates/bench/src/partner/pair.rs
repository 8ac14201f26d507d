//! A driver of this process and a partner on one machine.

use std::cell::{RefCell, RefMut};

use peermap_driver::{ByteSize, Context, Device, Driver, IpcMemHandle};

use super::hand::Partner;
use super::order::Order;
use crate::error::BenchError;
use crate::rig::Crew;

/// Two processes with a context on the same device each: this one and a partner.
///
/// The driver of this side is one of its own: a simulated machine that other processes can join is not the one that this
/// process measures by itself.
pub(crate) struct Pair {
    driver: Box<dyn Driver>,
    device: Device,
    context: Context,
    partner: RefCell<Partner>,
}

impl Pair {
    pub(crate) fn new(crew: &dyn Crew) -> Result<Self, BenchError> {
        let driver = crew.driver()?;
        driver.init(0)?;
        let device = driver.device_get(0)?;
        let context = driver.ctx_create(0, device)?;
        let mut partner = Partner::start(crew, true)?;
        partner.obey(&Order::Init)?;
        partner.obey(&Order::Context { device: driver.device_get_uuid(device)? })?;
        Ok(Self { driver, device, context, partner: RefCell::new(partner) })
    }

    /// The driver of this side, with its context current.
    pub(crate) fn driver(&self) -> Result<&dyn Driver, BenchError> {
        self.driver.ctx_set_current(Some(self.context))?;
        Ok(&*self.driver)
    }

    /// The device of both.
    pub(crate) const fn device(&self) -> Device {
        self.device
    }

    /// Has the other side allocate memory on a device, which this side can open.
    pub(crate) fn lend(&self, size: ByteSize, home: usize) -> Result<IpcMemHandle, BenchError> {
        let home = self.driver.device_get(i32::try_from(home).unwrap_or(-1))?;
        let mut partner = self.partner();
        partner.obey(&Order::Context { device: self.driver.device_get_uuid(home)? })?;
        partner.lend(size)
    }

    /// Has it free that memory.
    pub(crate) fn take_back(&self) -> Result<(), BenchError> {
        let mut partner = self.partner();
        partner.obey(&Order::TakeBack)?;
        partner.obey(&Order::Context { device: self.driver.device_get_uuid(self.device)? })?;
        Ok(())
    }

    /// The other side.
    pub(crate) fn partner(&self) -> RefMut<'_, Partner> {
        self.partner.borrow_mut()
    }
}
