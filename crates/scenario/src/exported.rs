//! Memory that the parent creates and exports: one buffer per worker, all on one device; and how workers map it.

use std::os::fd::BorrowedFd;

use peermap_driver::{
    AllocationProp, ByteSize, Device, DeviceAttribute, Driver, DriverError, GranularityOption, HandleType, MemHandle,
    OsHandle,
};

use crate::device_kernels::Buffer;
use crate::devices::{Chosen, Need};
use crate::parent::{SizeError, Supplies, SupplyError, check_granularity, check_room};
use crate::transport::{Carrier, Outgoing};

/// What a device needs in order to take part.
pub(crate) const NEEDS: &[Need] = &[
    Need::new(DeviceAttribute::VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, "no virtual memory management"),
    Need::new(DeviceAttribute::UNIFIED_ADDRESSING, "no unified addressing"),
    Need::new(
        DeviceAttribute::HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
        "memory cannot be shared as a file descriptor",
    ),
];

/// The same if memory is shared as fabric handles.
pub(crate) const FABRIC_NEEDS: &[Need] = &[
    Need::new(DeviceAttribute::VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, "no virtual memory management"),
    Need::new(DeviceAttribute::UNIFIED_ADDRESSING, "no unified addressing"),
    Need::new(DeviceAttribute::HANDLE_TYPE_FABRIC_SUPPORTED, "memory cannot be shared as a fabric handle"),
];

/// The buffers of a run. Whatever is left of them is given back when they are dropped.
pub(crate) struct Buffers<'d> {
    driver: &'d dyn Driver,
    handles: Vec<MemHandle>,
    outgoing: Outgoing,
    remarks: Vec<String>,
}

/// What sizes of memory on a device are multiples of.
fn granularity(driver: &dyn Driver, device: Device) -> Result<ByteSize, DriverError> {
    let prop = AllocationProp::pinned_on(device.0, HandleType::NONE);
    driver.mem_get_allocation_granularity(&prop, GranularityOption::MINIMUM)
}

/// The size that memory on a device has of which so much is used. What cannot be padded stays, and is refused.
pub(crate) fn room(driver: &dyn Driver, device: Device, size: ByteSize) -> Result<ByteSize, DriverError> {
    Ok(size.checked_next_multiple_of(granularity(driver, device)?).unwrap_or(size))
}

/// What padding so many buffers to `room` wastes, if it does.
pub(crate) fn waste(size: ByteSize, room: ByteSize, buffers: u32) -> Option<String> {
    let each = ByteSize::new(room.get() - size.get());
    let all = ByteSize::new(each.get() * u64::from(buffers));
    (!each.is_zero())
        .then(|| format!("buffers of {size} are padded to {room}: {each} of each and {all} in all are not used"))
}

/// Checks that `workers` buffers of `size` can be on `device`, and on this host if it has to back them.
pub(crate) fn check_size(
    driver: &dyn Driver,
    device: &Chosen,
    workers: u32,
    size: ByteSize,
    host_limit: Option<ByteSize>,
) -> Result<(), SizeError> {
    let granularity = check_granularity(driver, &prop(device), size)?;
    check_room(driver, &[(device, workers)], size, granularity, host_limit)
}

impl<'d> Buffers<'d> {
    /// Allocates and exports `count` buffers, as handles of the one type that `prop` asks for.
    pub(crate) fn create(
        driver: &'d dyn Driver,
        prop: &AllocationProp,
        count: u32,
        size: ByteSize,
    ) -> Result<Self, SupplyError> {
        Self::create_each(driver, prop.requested_handle_types, &vec![*prop; count as usize], size)
    }

    /// Allocates and exports a buffer for each of these properties, all of which ask for handles of this type.
    pub(crate) fn create_each(
        driver: &'d dyn Driver,
        handle_type: HandleType,
        props: &[AllocationProp],
        size: ByteSize,
    ) -> Result<Self, SupplyError> {
        let outgoing = Outgoing::new(handle_type, props.len() as u32)?;
        let mut buffers = Self { driver, handles: Vec::new(), outgoing, remarks: Vec::new() };
        for (number, prop) in (0..).zip(props) {
            let handle = driver.mem_create(size, prop, 0)?;
            buffers.handles.push(handle);
            buffers.outgoing.export(driver, number, handle)?;
        }
        Ok(buffers)
    }

    /// The properties that they have, whatever was asked for.
    pub(crate) fn properties(&self) -> Result<Vec<AllocationProp>, DriverError> {
        self.handles.iter().map(|handle| self.driver.mem_get_allocation_properties_from_handle(*handle)).collect()
    }

    /// The same with something to say about them.
    pub(crate) fn with_remarks(mut self, remarks: Vec<String>) -> Self {
        self.remarks = remarks;
        self
    }
}

impl Supplies for Buffers<'_> {
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

    fn release(&mut self) -> Result<(), DriverError> {
        let mut result = Ok(());
        for handle in self.handles.drain(..) {
            let released = self.driver.mem_release(handle);
            result = result.and(released);
        }
        result
    }
}

impl Drop for Buffers<'_> {
    fn drop(&mut self) {
        for handle in self.handles.drain(..) {
            // The run has failed already, and that failure is the one to report.
            let _ = self.driver.mem_release(handle);
        }
    }
}

/// Imports a buffer and maps it to addresses that are reserved. The mapping keeps the memory.
pub(crate) fn map(driver: &dyn Driver, from: OsHandle<'_>, to: Buffer) -> Result<(), DriverError> {
    map_only(driver, driver.mem_import_from_shareable_handle(from, from.handle_type())?, to)
}

/// Maps memory, and lets go of its handle: the mapping keeps the memory.
pub(crate) fn map_only(driver: &dyn Driver, handle: MemHandle, to: Buffer) -> Result<(), DriverError> {
    driver.mem_map(to.ptr, to.size, ByteSize::ZERO, handle, 0)?;
    driver.mem_release(handle)
}

/// What is asked of memory that a run shares as descriptors.
pub(crate) fn prop(device: &Chosen) -> AllocationProp {
    prop_as(device, HandleType::POSIX_FILE_DESCRIPTOR)
}

/// What is asked of memory that a run shares as handles of a type.
pub(crate) fn prop_as(device: &Chosen, handle_type: HandleType) -> AllocationProp {
    AllocationProp::pinned_on(device.device.0, handle_type)
}
