//! What this scenario adds to the parent's story.

use peermap_driver::{ByteSize, Driver};

use crate::devices::Need;
use crate::exported::{Buffers, NEEDS, check_size, prop};
use crate::messages::Role;
use crate::options::Options;
use crate::parent::{Plan, SizeError, Story, Supplies, SupplyError};
use crate::task::Task;

/// The scenario, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemmapIpc(pub Options);

impl Story for MemmapIpc {
    fn name(&self) -> &'static str {
        "memmap-ipc"
    }

    fn options(&self) -> &Options {
        &self.0
    }

    fn needs(&self) -> &'static [Need] {
        NEEDS
    }

    fn steps(&self, workers: u32) -> u32 {
        workers
    }

    fn check_size(&self, driver: &dyn Driver, plan: &Plan, host_limit: Option<ByteSize>) -> Result<(), SizeError> {
        check_size(driver, plan.first(), plan.workers, self.0.size, host_limit)
    }

    fn supply<'d>(&self, driver: &'d dyn Driver, plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError> {
        Ok(Box::new(Buffers::create(driver, &prop(plan.first()), plan.workers, self.0.size)?))
    }

    fn role(&self, task: Task, _plan: &Plan) -> Role {
        Role::MemmapIpc(task)
    }
}
