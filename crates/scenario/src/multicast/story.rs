//! What this scenario adds to the parent's story.

use peermap_driver::{
    AllocationProp, ByteSize, CuResult, Device, DeviceAttribute, Driver, DriverError, GranularityOption, HandleType,
};

use super::object::{Object, prop};
use super::worker::MEETINGS;
use super::{Multicast, Task};
use crate::devices::{Chosen, Need};
use crate::error::{UsageError, one_line};
use crate::messages::Role;
use crate::options::Options;
use crate::parent::{Plan, SizeError, Story, Supplies, SupplyError, check_room};
use crate::task;

/// What a device needs in order to take part.
const NEEDS: &[Need] = &[
    Need::new(DeviceAttribute::VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, "no virtual memory management"),
    Need::new(DeviceAttribute::UNIFIED_ADDRESSING, "no unified addressing"),
    Need::new(
        DeviceAttribute::HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
        "memory cannot be shared as a file descriptor",
    ),
    Need::new(DeviceAttribute::MULTICAST_SUPPORTED, "no multicast"),
];

/// Each device has its copy, and as much for sums.
const BUFFERS_PER_DEVICE: u32 = 2;

impl Story for Multicast {
    fn name(&self) -> &'static str {
        "multicast"
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn own_options(&self) -> Vec<(&'static str, String)> {
        let absent = self.absent.map_or_else(|| "none".to_owned(), |rank| rank.to_string());
        vec![("one_process", self.one_process.to_string()), ("absent", absent)]
    }

    fn needs(&self) -> &'static [Need] {
        NEEDS
    }

    fn workers(&self, devices: usize) -> Result<u32, UsageError> {
        self.options.workers(if self.one_process { devices.min(1) } else { devices })
    }

    /// A driver may know multicast and not let it happen.
    fn try_device(&self, driver: &dyn Driver, _device: Device) -> Result<Option<String>, DriverError> {
        match driver.multicast_get_granularity(&prop(1, self.options.size), GranularityOption::MINIMUM) {
            Err(error) if matches!(error.result(), Some(CuResult::NOT_PERMITTED | CuResult::NOT_SUPPORTED)) => {
                Ok(Some(one_line(&error)))
            }
            answer => answer.map(|_| None),
        }
    }

    fn steps(&self, _workers: u32) -> u32 {
        MEETINGS
    }

    fn check_size(&self, driver: &dyn Driver, plan: &Plan, host_limit: Option<ByteSize>) -> Result<(), SizeError> {
        let size = self.options.size;
        let devices: Vec<(&Chosen, u32)> = plan.devices().iter().map(|device| (device, BUFFERS_PER_DEVICE)).collect();
        self.check_absent(devices.len() as u32)?;
        // The size of a team is a multiple of the units of teams and of memory.
        let memory = AllocationProp::pinned_on(plan.first().device.0, HandleType::POSIX_FILE_DESCRIPTOR);
        let minimum = GranularityOption::MINIMUM;
        let granularity = driver
            .multicast_get_granularity(&prop(devices.len() as u32, size), minimum)?
            .max(driver.mem_get_allocation_granularity(&memory, minimum)?);
        if !size.is_multiple_of(granularity) {
            let next = size.checked_next_multiple_of(granularity);
            return Err(UsageError::Granularity { size, granularity, next }.into());
        }
        check_room(driver, &devices, size, granularity, host_limit)
    }

    fn supply<'d>(&self, driver: &'d dyn Driver, plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError> {
        Ok(Box::new(Object::create(driver, plan.devices().len() as u32, self.options.size)?))
    }

    fn role(&self, task: task::Task, plan: &Plan) -> Role {
        let devices = plan.devices().iter().map(|device| device.uuid).collect();
        Role::Multicast(Task { work: task, devices, absent: self.absent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::MockDriver;

    #[test]
    fn a_driver_that_does_not_let_multicast_happen_is_told_from_one_that_fails() {
        let obstacle = |code| {
            let driver = MockDriver::with_devices(2).granularity_of_teams(code);
            Multicast::default().try_device(&driver, Device(0))
        };
        assert_eq!(obstacle(CuResult::SUCCESS), Ok(None));
        assert_eq!(obstacle(CuResult::NOT_PERMITTED), Ok(Some("CUDA_ERROR_NOT_PERMITTED".to_owned())));
        assert_eq!(obstacle(CuResult::NOT_SUPPORTED), Ok(Some("CUDA_ERROR_NOT_SUPPORTED".to_owned())));
        assert_eq!(obstacle(CuResult::UNKNOWN), Err(DriverError::refused(CuResult::UNKNOWN)));
    }
}
