//! What this scenario adds to the parent's story.

use peermap_driver::{ByteSize, DeviceAttribute, Driver};

use super::buffers::{Buffers, check_size, prop};
use crate::devices::{Chosen, Need};
use crate::messages::Role;
use crate::options::Options;
use crate::parent::{Plan, SizeError, Story, Supplies, SupplyError};
use crate::ring::Task;

/// What a device needs in order to take part.
pub(crate) const NEEDS: &[Need] = &[
    Need::new(DeviceAttribute::VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, "no virtual memory management"),
    Need::new(DeviceAttribute::UNIFIED_ADDRESSING, "no unified addressing"),
    Need::new(
        DeviceAttribute::HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
        "memory cannot be shared as a file descriptor",
    ),
];

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
        check_size(driver, first(plan), plan.workers, self.0.size, host_limit)
    }

    fn supply<'d>(&self, driver: &'d dyn Driver, plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError> {
        Ok(Box::new(Buffers::create(driver, &prop(first(plan)), plan.workers, self.0.size)?))
    }

    fn role(&self, task: Task, _workers: u32) -> Role {
        Role::MemmapIpc(task)
    }
}

/// The device that holds all buffers.
fn first(plan: &Plan) -> &Chosen {
    plan.device_of(0)
}
