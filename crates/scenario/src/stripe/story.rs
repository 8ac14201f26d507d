//! What this scenario adds to the parent's story.

use std::os::fd::{AsFd, BorrowedFd};

use peermap_driver::{ByteSize, Driver, DriverError, HandleType};

use super::board::Board;
use super::layout::Layout;
use super::options::FEWEST;
use super::vectors::VECTORS;
use super::{Stripe, Task};
use crate::devices::Need;
use crate::error::UsageError;
use crate::exported::{Buffers, NEEDS, prop};
use crate::messages::Role;
use crate::options::Options;
use crate::own_memory::check_piece;
use crate::parent::{Plan, SizeError, Story, Supplies, SupplyError, check_room};
use crate::task;

impl Stripe {
    fn layout(&self, devices: u32) -> Layout {
        Layout { stripe: self.stripe, stripes: self.stripes(), devices }
    }
}

impl Story for Stripe {
    fn name(&self) -> &'static str {
        "stripe"
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn own_options(&self) -> Vec<(&'static str, String)> {
        vec![("stripe", self.stripe.to_string()), ("balance", self.balance.to_string())]
    }

    fn check(&self) -> Result<(), UsageError> {
        self.check_stripes()
    }

    fn needs(&self) -> &'static [Need] {
        NEEDS
    }

    /// What is there before the last device joins is written; all is written; all is added.
    fn steps(&self, _workers: u32) -> u32 {
        3
    }

    fn check_size(&self, driver: &dyn Driver, plan: &Plan, host_limit: Option<ByteSize>) -> Result<(), SizeError> {
        check_piece(driver, plan, self.stripe)?;
        let check = |stripes| {
            let layout = Layout { stripes, ..self.layout(plan.workers) };
            let devices = (0..).zip(plan.workers_by_device());
            let stripes: Vec<_> = devices.map(|(number, (device, _))| (device, VECTORS * layout.on(number))).collect();
            check_room(driver, &stripes, self.stripe, self.stripe, host_limit)
        };
        check(self.stripes()).map_err(|error| match error {
            SizeError::Usage(usage) => {
                let most = (FEWEST as u32..self.stripes()).rev().find(|stripes| check(*stripes).is_ok());
                let most = most.map(|stripes| Layout { stripes, ..self.layout(plan.workers) }.size());
                usage.with_most(most).into()
            }
            other => other,
        })
    }

    fn supply<'d>(&self, driver: &'d dyn Driver, plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError> {
        let layout = self.layout(plan.workers);
        let stripes = (0..VECTORS).flat_map(|_| 0..layout.stripes);
        let props: Vec<_> = stripes.map(|stripe| prop(plan.device_of(layout.device_of(stripe)))).collect();
        let board = Board::create(plan.workers)?;
        let stripes = Buffers::create_each(driver, HandleType::POSIX_FILE_DESCRIPTOR, &props, self.stripe)?;
        Ok(Box::new(Striped { board, stripes }))
    }

    fn role(&self, task: task::Task, plan: &Plan) -> Role {
        let devices = plan.workers_by_device().iter().map(|(device, _)| device.uuid).collect();
        Role::Stripe(Task { work: task, stripe: self.stripe, stripes: self.stripes(), balance: self.balance, devices })
    }
}

/// What the parent holds: first the board, then the stripes, vector by vector.
struct Striped<'d> {
    board: Board,
    stripes: Buffers<'d>,
}

impl Supplies for Striped<'_> {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        std::iter::once(self.board.as_fd()).chain(self.stripes.descriptors()).collect()
    }

    fn close_descriptors(&mut self) {
        self.stripes.close_descriptors();
    }

    fn release(&mut self) -> Result<(), DriverError> {
        self.stripes.release()
    }
}
