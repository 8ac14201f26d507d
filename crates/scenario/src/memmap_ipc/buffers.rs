//! The memory of a run: one buffer per worker, all on one device, each exported once.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use peermap_driver::{
    AllocationProp, ByteSize, CuResult, Driver, DriverError, GranularityOption, HandleType, MemHandle,
};

use crate::devices::Chosen;
use crate::error::UsageError;
use crate::launch::share;

/// How the buffers are shared.
pub(super) const HANDLE_TYPE: HandleType = HandleType::POSIX_FILE_DESCRIPTOR;

/// The buffers of a run. Whatever is left of them is given back when they are dropped.
pub(super) struct Buffers<'d> {
    driver: &'d dyn Driver,
    handles: Vec<MemHandle>,
    exported: Vec<OwnedFd>,
}

/// Why the size of the buffers cannot be.
#[derive(Debug, thiserror::Error)]
pub(super) enum SizeError {
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error(transparent)]
    Driver(#[from] DriverError),
}

/// Checks that `workers` buffers of `size` can be on `device`, and on this host if it has to back them.
pub(super) fn check_size(
    driver: &dyn Driver,
    device: &Chosen,
    workers: u32,
    size: ByteSize,
    host_limit: Option<ByteSize>,
) -> Result<(), SizeError> {
    let granularity = driver.mem_get_allocation_granularity(&prop(device), GranularityOption::MINIMUM)?;
    if !size.is_multiple_of(granularity) {
        let next = size.checked_next_multiple_of(granularity);
        return Err(UsageError::Granularity { size, granularity, next }.into());
    }
    // What is left of a granule holds nothing, and would be shown in bytes.
    let whole = |limit: ByteSize| share(limit, 1, granularity).unwrap_or(ByteSize::ZERO);
    let total = whole(driver.device_total_mem(device.device)?);
    let host_limit = host_limit.map(whole).filter(|limit| *limit < total);
    // The smaller of the two is the one to name: whoever heeds the larger one would meet it next.
    let smaller = host_limit.unwrap_or(total);
    if size.checked_mul(u64::from(workers)).is_some_and(|needed| needed <= smaller) {
        return Ok(());
    }
    let most = share(smaller, workers, granularity);
    Err(SizeError::from(match host_limit {
        Some(limit) => UsageError::LargerThanHost { workers, size, limit, most },
        None => UsageError::LargerThanDevice { workers, size, device: device.device.to_string(), total, most },
    }))
}

impl<'d> Buffers<'d> {
    /// Allocates and exports `count` buffers.
    pub(super) fn create(
        driver: &'d dyn Driver,
        device: &Chosen,
        count: u32,
        size: ByteSize,
    ) -> Result<Self, DriverError> {
        let mut buffers = Self { driver, handles: Vec::new(), exported: Vec::new() };
        for _ in 0..count {
            let handle = driver.mem_create(size, &prop(device), 0)?;
            buffers.handles.push(handle);
            let exported = driver.mem_export_to_shareable_handle(handle, HANDLE_TYPE, 0)?;
            // No driver answers a wish for a descriptor with anything else.
            let fd = exported.into_posix_fd().ok_or(DriverError::refused(CuResult::UNKNOWN))?;
            buffers.exported.push(fd);
        }
        Ok(buffers)
    }

    /// The descriptors to hand to every worker.
    pub(super) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.exported.iter().map(AsFd::as_fd).collect()
    }

    /// Closes the descriptors, once every worker has its own copies.
    pub(super) fn close_descriptors(&mut self) {
        self.exported.clear();
    }

    /// Gives the memory back, once the last worker has ended.
    pub(super) fn release(mut self) -> Result<(), DriverError> {
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

fn prop(device: &Chosen) -> AllocationProp {
    AllocationProp::pinned_on(device.device.0, HANDLE_TYPE)
}
