//! The multicast object, which the parent makes and holds.

use std::os::fd::BorrowedFd;

use peermap_driver::{
    AllocationProp, ByteSize, Device, Driver, GranularityOption, HandleType, MemHandle, MulticastObjectProp, Result,
};

use crate::parent::{Supplies, SupplyError};
use crate::transport::{Carrier, Outgoing};

/// What the size of a team of so many devices, of which this is one, is a multiple of: the units of teams and of memory.
pub(super) fn granularity(driver: &dyn Driver, device: Device, devices: u32, size: ByteSize) -> Result<ByteSize> {
    let minimum = GranularityOption::MINIMUM;
    let team = MulticastObjectProp::team_of(devices, size, HandleType::NONE);
    let memory = AllocationProp::pinned_on(device.0, HandleType::NONE);
    let of_memory = driver.mem_get_allocation_granularity(&memory, minimum)?;
    Ok(driver.multicast_get_granularity(&team, minimum)?.max(of_memory))
}

/// The size that such a team has if so much of it is used. What cannot be padded stays, and is refused.
pub(super) fn room(driver: &dyn Driver, device: Device, devices: u32, size: ByteSize) -> Result<ByteSize> {
    Ok(size.checked_next_multiple_of(granularity(driver, device, devices, size)?).unwrap_or(size))
}

/// The multicast object of a run. It is given back when this is dropped.
pub(super) struct Object<'d> {
    driver: &'d dyn Driver,
    handle: Option<MemHandle>,
    /// A handle for each worker.
    outgoing: Outgoing,
    remarks: Vec<String>,
}

impl<'d> Object<'d> {
    /// Makes it, and exports it for so many workers as handles of the one type that `prop` asks for.
    pub(super) fn create(
        driver: &'d dyn Driver,
        prop: &MulticastObjectProp,
        workers: u32,
        remarks: Vec<String>,
    ) -> std::result::Result<Self, SupplyError> {
        let outgoing = Outgoing::new(prop.handle_types, workers)?;
        let handle = driver.multicast_create(prop)?;
        let mut object = Self { driver, handle: Some(handle), outgoing, remarks };
        for worker in 0..workers {
            object.outgoing.export(driver, worker, handle)?;
        }
        Ok(object)
    }

    fn give_back(&mut self) -> Result<()> {
        self.handle.take().map_or(Ok(()), |handle| self.driver.mem_release(handle))
    }
}

impl Supplies for Object<'_> {
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.outgoing.descriptors()
    }

    fn carrier(&self) -> Carrier {
        self.outgoing.carrier()
    }

    fn close_descriptors(&mut self) {
        self.outgoing.close();
    }

    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    fn release(&mut self) -> Result<()> {
        self.give_back()
    }
}

impl Drop for Object<'_> {
    fn drop(&mut self) {
        // The run has failed already, and that failure is the one to report.
        let _ = self.give_back();
    }
}
