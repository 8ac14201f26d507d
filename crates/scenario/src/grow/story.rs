//! What this scenario adds to the parent's story.

use std::os::fd::BorrowedFd;

use peermap_driver::{ByteSize, DeviceAttribute, Driver, DriverError};

use super::{Grow, Task};
use crate::devices::Need;
use crate::error::UsageError;
use crate::exported::check_granularity;
use crate::messages::Role;
use crate::options::Options;
use crate::parent::{Plan, SizeError, Story, Supplies, SupplyError, check_room};
use crate::task;

/// What a device needs in order to take part.
const NEEDS: &[Need] =
    &[Need::new(DeviceAttribute::VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, "no virtual memory management")];

impl Story for Grow {
    fn name(&self) -> &'static str {
        "grow"
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn own_options(&self) -> Vec<(&'static str, String)> {
        vec![("chunk", self.chunk.to_string()), ("kv_cache", self.kv_cache.to_string())]
    }

    fn check(&self) -> Result<(), UsageError> {
        self.check_chunks()
    }

    fn needs(&self) -> &'static [Need] {
        NEEDS
    }

    /// Nobody waits for anybody: each has a vector of its own.
    fn steps(&self, _workers: u32) -> u32 {
        0
    }

    fn check_size(&self, driver: &dyn Driver, plan: &Plan, host_limit: Option<ByteSize>) -> Result<(), SizeError> {
        for (device, _) in plan.workers_by_device() {
            check_granularity(driver, device, self.chunk)?;
        }
        check_room(driver, &plan.workers_by_device(), self.options.size, self.chunk, host_limit)
    }

    fn supply<'d>(&self, _driver: &'d dyn Driver, _plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError> {
        Ok(Box::new(Nothing))
    }

    fn role(&self, task: task::Task, _plan: &Plan) -> Role {
        Role::Grow(Task { work: task, chunk: self.chunk, chunks: self.chunks(), kv_cache: self.kv_cache })
    }
}

/// What the workers share.
struct Nothing;

impl Supplies for Nothing {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    fn close_descriptors(&mut self) {}

    fn release(self: Box<Self>) -> Result<(), DriverError> {
        Ok(())
    }
}
