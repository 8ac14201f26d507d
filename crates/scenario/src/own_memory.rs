//! Memory that each worker makes for itself, on its own device: nothing is shared.

use std::os::fd::BorrowedFd;

use peermap_driver::{AllocationProp, ByteSize, DeviceAttribute, Driver, DriverError, GranularityOption, HandleType};

use crate::devices::Need;
use crate::error::UsageError;
use crate::parent::{Plan, SizeError, Supplies};

/// What a device needs in order to take part.
pub(crate) const NEEDS: &[Need] =
    &[Need::new(DeviceAttribute::VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, "no virtual memory management")];

/// What is asked of the memory of a worker on this device.
pub(crate) fn prop(device: i32) -> AllocationProp {
    AllocationProp::pinned_on(device, HandleType::NONE)
}

/// Checks that each device gives memory in pieces of this size.
pub(crate) fn check_piece(driver: &dyn Driver, plan: &Plan, size: ByteSize) -> Result<(), SizeError> {
    for (device, _) in plan.workers_by_device() {
        let granularity = driver.mem_get_allocation_granularity(&prop(device.device.0), GranularityOption::MINIMUM)?;
        if !size.is_multiple_of(granularity) {
            let next = size.checked_next_multiple_of(granularity);
            return Err(UsageError::Granularity { size, granularity, next }.into());
        }
    }
    Ok(())
}

/// What the workers share.
pub(crate) struct Nothing;

impl Supplies for Nothing {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    fn close_descriptors(&mut self) {}

    fn release(self: Box<Self>) -> Result<(), DriverError> {
        Ok(())
    }
}
