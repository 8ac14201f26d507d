//! Memory that the parent creates and exports as descriptors: one buffer per worker, all on one device; and how workers map it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use peermap_driver::{
    AllocationProp, ByteSize, CuResult, DeviceAttribute, DevicePtr, Driver, DriverError, HandleType, MemHandle,
};

use crate::device_kernels::Buffer;
use crate::devices::{Chosen, Need};
use crate::messages::Step;
use crate::parent::{SizeError, Supplies, check_granularity, check_room};
use crate::ring::Memory;
use crate::worker::{Station, WorkerError};

/// What a device needs in order to take part.
pub(crate) const NEEDS: &[Need] = &[
    Need::new(DeviceAttribute::VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, "no virtual memory management"),
    Need::new(DeviceAttribute::UNIFIED_ADDRESSING, "no unified addressing"),
    Need::new(
        DeviceAttribute::HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
        "memory cannot be shared as a file descriptor",
    ),
];

/// How the buffers are shared.
const HANDLE_TYPE: HandleType = HandleType::POSIX_FILE_DESCRIPTOR;

/// The buffers of a run. Whatever is left of them is given back when they are dropped.
pub(crate) struct Buffers<'d> {
    driver: &'d dyn Driver,
    handles: Vec<MemHandle>,
    exported: Vec<OwnedFd>,
    remarks: Vec<String>,
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
    /// Allocates and exports `count` buffers.
    pub(crate) fn create(
        driver: &'d dyn Driver,
        prop: &AllocationProp,
        count: u32,
        size: ByteSize,
    ) -> Result<Self, DriverError> {
        Self::create_each(driver, std::iter::repeat_n(*prop, count as usize), size)
    }

    /// Allocates and exports a buffer for each of these properties.
    pub(crate) fn create_each(
        driver: &'d dyn Driver,
        props: impl Iterator<Item = AllocationProp>,
        size: ByteSize,
    ) -> Result<Self, DriverError> {
        let mut buffers = Self { driver, handles: Vec::new(), exported: Vec::new(), remarks: Vec::new() };
        for prop in props {
            let handle = driver.mem_create(size, &prop, 0)?;
            buffers.handles.push(handle);
            let exported = driver.mem_export_to_shareable_handle(handle, HANDLE_TYPE, 0)?;
            // No driver answers a wish for a descriptor with anything else.
            let fd = exported.into_posix_fd().ok_or(DriverError::refused(CuResult::UNKNOWN))?;
            buffers.exported.push(fd);
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
        self.exported.iter().map(AsFd::as_fd).collect()
    }

    fn close_descriptors(&mut self) {
        self.exported.clear();
    }

    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    fn release(mut self: Box<Self>) -> Result<(), DriverError> {
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
pub(crate) fn map(driver: &dyn Driver, descriptor: BorrowedFd<'_>, to: Buffer) -> Result<(), DriverError> {
    let handle = driver.mem_import_from_shareable_handle(descriptor.into(), HANDLE_TYPE)?;
    driver.mem_map(to.ptr, to.size, ByteSize::ZERO, handle, 0)?;
    driver.mem_release(handle)
}

/// All buffers of a run, mapped one behind the other.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) start: DevicePtr,
    each: ByteSize,
    pub(crate) all: ByteSize,
}

/// The alignment of the reservation: the size of a buffer in NVIDIA's sample.
const ALIGNMENT: ByteSize = ByteSize::mib(4);

impl Row {
    /// Reserves addresses, imports and maps every buffer, and lets nobody in.
    pub(crate) fn map(
        station: &mut Station<'_>,
        each: ByteSize,
        descriptors: Vec<OwnedFd>,
    ) -> Result<Self, WorkerError> {
        let (driver, workers) = (station.driver, station.workers);
        station.begin(Step::Reserve)?;
        let too_large = WorkerError::TooLarge { workers, size: each.get() };
        let all = each.checked_mul(u64::from(workers)).ok_or(too_large)?;
        let start = driver.mem_address_reserve(all, ALIGNMENT, DevicePtr::NULL, 0)?;
        let row = Self { start, each, all };

        station.begin(Step::Import)?;
        for (number, descriptor) in (0..).zip(&descriptors) {
            map(driver, descriptor.as_fd(), row.buffer(number))?;
        }
        Ok(row)
    }
}

impl Memory for Row {
    fn buffer(&self, number: u32) -> Buffer {
        let all = Buffer { ptr: self.start, size: self.all };
        Buffer { ptr: all.at(self.each.get().saturating_mul(u64::from(number))), size: self.each }
    }

    /// The descriptors were closed after the import.
    fn give_back(self, driver: &dyn Driver) -> Result<(), DriverError> {
        driver.mem_unmap(self.start, self.all)?;
        driver.mem_address_free(self.start, self.all)
    }
}

/// What is asked of memory that a run shares.
pub(crate) fn prop(device: &Chosen) -> AllocationProp {
    AllocationProp::pinned_on(device.device.0, HANDLE_TYPE)
}
