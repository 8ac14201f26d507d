//! Memory that each worker makes for itself, on its own device: nothing is shared.

use std::os::fd::BorrowedFd;

use peermap_driver::{AllocationProp, ByteSize, DeviceAttribute, Driver, DriverError, HandleType};

use crate::devices::Need;
use crate::parent::{Plan, SizeError, Supplies, check_granularity};

/// What a device needs in order to take part.
pub(crate) const NEEDS: &[Need] =
    &[Need::new(DeviceAttribute::VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, "no virtual memory management")];

/// What is asked of the memory of a worker on this device.
pub(crate) fn prop(device: i32) -> AllocationProp {
    AllocationProp::pinned_on(device, HandleType::NONE)
}

/// Checks that each device gives memory in pieces of this size. Gives the largest granularity.
pub(crate) fn check_piece(driver: &dyn Driver, plan: &Plan, size: ByteSize) -> Result<ByteSize, SizeError> {
    let mut largest = ByteSize::ZERO;
    for (device, _) in plan.workers_by_device() {
        largest = largest.max(check_granularity(driver, &prop(device.device.0), size)?);
    }
    Ok(largest)
}

/// What the workers share.
pub(crate) struct Nothing;

impl Supplies for Nothing {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    fn close_descriptors(&mut self) {}

    fn release(&mut self) -> Result<(), DriverError> {
        Ok(())
    }
}
