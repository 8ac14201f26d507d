//! What this scenario adds to the parent's story.

use peermap_driver::{ByteSize, DeviceAttribute, Driver};

use super::buffers::Buffers;
use super::{SimpleIpc, Task};
use crate::devices::Need;
use crate::error::UsageError;
use crate::messages::Role;
use crate::options::Options;
use crate::parent::{Plan, SizeError, Story, Supplies, SupplyError, check_room};
use crate::task;

/// The pages that large `cuMemAlloc` allocations consist of.
const PAGE: ByteSize = ByteSize::mib(2);

impl Story for SimpleIpc {
    fn name(&self) -> &'static str {
        "simple-ipc"
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn own_options(&self) -> Vec<(&'static str, String)> {
        let steps = self.steps.map_or_else(|| "one per worker".to_owned(), |steps| steps.to_string());
        vec![("order", self.order.to_string()), ("steps", steps)]
    }

    fn check(&self) -> Result<(), UsageError> {
        self.check_steps()
    }

    fn needs(&self) -> &'static [Need] {
        &[(DeviceAttribute::UNIFIED_ADDRESSING, "no unified addressing")]
    }

    fn steps(&self, workers: u32) -> u32 {
        self.steps.unwrap_or(workers)
    }

    fn check_size(&self, driver: &dyn Driver, plan: &Plan, host_limit: Option<ByteSize>) -> Result<(), SizeError> {
        check_room(driver, &plan.workers_by_device(), self.options.size, PAGE, host_limit)
    }

    fn supply<'d>(&self, driver: &'d dyn Driver, plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError> {
        Ok(Box::new(Buffers::create(driver, plan, self.options.size)?))
    }

    fn role(&self, task: task::Task, plan: &Plan) -> Role {
        Role::SimpleIpc(Task { work: task, order: self.order, steps: self.steps(plan.workers) })
    }
}
