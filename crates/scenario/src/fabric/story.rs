//! What this scenario adds to the parent's story.

use std::os::fd::{AsFd, BorrowedFd};

use peermap_driver::{ByteSize, Device, Driver, DriverError, HandleType};

use super::{Fabric, Task};
use crate::devices::Need;
use crate::exported::{FABRIC_NEEDS, prop_as};
use crate::messages::Role;
use crate::options::Options;
use crate::parent::{Plan, SizeError, Story, Supplies, SupplyError, check_granularity, check_room};
use crate::share_as::try_fabric;
use crate::task;
use crate::transport::{Carrier, FabricSlots};

impl Story for Fabric {
    fn name(&self) -> &'static str {
        "fabric"
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn own_options(&self) -> Vec<(&'static str, String)> {
        vec![("mistake", self.mistake.to_string())]
    }

    fn needs(&self) -> &'static [Need] {
        FABRIC_NEEDS
    }

    fn spans_nodes(&self) -> bool {
        true
    }

    fn try_device(&self, driver: &dyn Driver, device: Device) -> Result<Option<String>, DriverError> {
        Ok(try_fabric(driver, device)?.map(|no| no.reason()))
    }

    /// All is filled.
    fn steps(&self, _workers: u32) -> u32 {
        1
    }

    fn check_size(&self, driver: &dyn Driver, plan: &Plan, host_limit: Option<ByteSize>) -> Result<(), SizeError> {
        let buffers = plan.workers_by_device();
        let mut granularity = ByteSize::ZERO;
        for (device, _) in &buffers {
            granularity = check_granularity(driver, &prop_as(device, HandleType::FABRIC), self.options.size)?;
        }
        check_room(driver, &buffers, self.options.size, granularity, host_limit)
    }

    fn supply<'d>(&self, _driver: &'d dyn Driver, plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError> {
        Ok(Box::new(Empty(Some(FabricSlots::create("fabric-handles", plan.workers)?))))
    }

    fn role(&self, work: task::Task, _plan: &Plan) -> Role {
        Role::Fabric(Task { work, mistake: self.mistake })
    }
}

/// Slots for the handles of the workers, until every worker has them.
struct Empty(Option<FabricSlots>);

impl Supplies for Empty {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.0.iter().map(AsFd::as_fd).collect()
    }

    fn carrier(&self) -> Carrier {
        Carrier::SharedMemory
    }

    fn close_descriptors(&mut self) {
        self.0 = None;
    }

    fn release(&mut self) -> Result<(), DriverError> {
        Ok(())
    }
}
