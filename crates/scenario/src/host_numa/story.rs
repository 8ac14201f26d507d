//! What this scenario adds to the parent's story.

use peermap_driver::{AllocationProp, ByteSize, DeviceAttribute, Driver, DriverError, Location};

use crate::content::Fill;
use crate::devices::{Chosen, Need};
use crate::exported::{self, Buffers};
use crate::messages::Role;
use crate::options::Options;
use crate::parent::{Plan, SizeError, Story, Supplies, SupplyError, check_granularity, check_host_room};
use crate::task::Task;

/// What a device needs in order to take part.
const NEEDS: &[Need] = &[
    exported::NEEDS[0],
    exported::NEEDS[1],
    exported::NEEDS[2],
    Need::new(
        DeviceAttribute::HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
        "no virtual memory management of memory of the host",
    ),
];

/// The scenario, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostNuma(Options);

impl HostNuma {
    /// The scenario with these options. It fills with patterns: an id would not tell the CPU's bytes from a kernel's.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self(Options { fill: Some(Fill::Pattern), ..options })
    }
}

/// What is asked of the memory: the node that is nearest to the device, if the driver knows one.
fn prop(driver: &dyn Driver, device: &Chosen) -> Result<AllocationProp, DriverError> {
    let node = driver.device_get_attribute(DeviceAttribute::HOST_NUMA_ID, device.device)?;
    Ok(AllocationProp { location: Location::host_numa(node.max(0)), ..exported::prop(device) })
}

impl Story for HostNuma {
    fn name(&self) -> &'static str {
        "host-numa"
    }

    fn options(&self) -> &Options {
        &self.0
    }

    fn needs(&self) -> &'static [Need] {
        NEEDS
    }

    /// All is filled by the CPU; all is verified and filled by a device; all is verified by the CPU.
    fn steps(&self, _workers: u32) -> u32 {
        3
    }

    fn check_size(&self, driver: &dyn Driver, plan: &Plan, host_limit: Option<ByteSize>) -> Result<(), SizeError> {
        let prop = prop(driver, plan.first())?;
        let granularity = check_granularity(driver, &prop, self.0.size)?;
        // Each worker has memory of its own besides.
        check_host_room(2 * plan.workers, self.0.size, granularity, host_limit)
    }

    fn supply<'d>(&self, driver: &'d dyn Driver, plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError> {
        Ok(Box::new(Buffers::create(driver, &prop(driver, plan.first())?, plan.workers, self.0.size)?))
    }

    fn role(&self, task: Task, _plan: &Plan) -> Role {
        Role::HostNuma(task)
    }
}
