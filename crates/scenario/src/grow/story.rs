//! What this scenario adds to the parent's story.

use peermap_driver::{ByteSize, Driver};

use super::{Grow, Task};
use crate::devices::Need;
use crate::error::UsageError;
use crate::messages::Role;
use crate::options::Options;
use crate::own_memory::{NEEDS, Nothing, check_piece};
use crate::parent::{Plan, SizeError, Story, Supplies, SupplyError, check_room};
use crate::task;

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
        check_piece(driver, plan, self.chunk)?;
        check_room(driver, &plan.workers_by_device(), self.options.size, self.chunk, host_limit)
    }

    fn supply<'d>(&self, _driver: &'d dyn Driver, _plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError> {
        Ok(Box::new(Nothing))
    }

    fn role(&self, task: task::Task, _plan: &Plan) -> Role {
        Role::Grow(Task { work: task, chunk: self.chunk, chunks: self.chunks(), kv_cache: self.kv_cache })
    }
}
