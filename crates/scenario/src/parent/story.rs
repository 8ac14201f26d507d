//! What a scenario adds to the parent's story.

use std::os::fd::BorrowedFd;

use peermap_driver::{AllocationProp, ByteSize, Device, Driver, DriverError, GranularityOption};
use peermap_ipc::ShmError;

use super::Plan;
use crate::devices::{Chosen, Need};
use crate::error::UsageError;
use crate::launch::share;
use crate::messages::Role;
use crate::options::Options;
use crate::task::Task;
use crate::transport::Carrier;

/// What a scenario adds to the parent's story.
pub(crate) trait Story {
    /// Its name on the command line and in reports.
    fn name(&self) -> &'static str;

    /// What is asked of it and of every other scenario.
    fn options(&self) -> &Options;

    /// What is asked of it alone, for a report.
    fn own_options(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Refuses what cannot be on any machine, beyond what every scenario refuses.
    fn check(&self) -> Result<(), UsageError> {
        Ok(())
    }

    /// How many workers there are on so many devices.
    ///
    /// # Errors
    /// If they are too many.
    fn workers(&self, devices: usize) -> Result<u32, UsageError> {
        self.options().workers(devices)
    }

    /// What a device needs in order to take part, beyond what every scenario asks of it.
    fn needs(&self) -> &'static [Need];

    /// Whether its devices may sit on several nodes, so that they need not be peers of each other.
    fn spans_nodes(&self) -> bool {
        false
    }

    /// Tries whether a device that has what is needed can take part. Gives the reason if it cannot.
    fn try_device(&self, _driver: &dyn Driver, _device: Device) -> Result<Option<String>, DriverError> {
        Ok(None)
    }

    /// How many steps such a run has after which all wait for all.
    fn steps(&self, workers: u32) -> u32;

    /// Refuses a size that the devices, or this host if it has to back them, do not have.
    fn check_size(&self, driver: &dyn Driver, plan: &Plan, host_limit: Option<ByteSize>) -> Result<(), SizeError>;

    /// Makes the memory that the workers share.
    fn supply<'d>(&self, driver: &'d dyn Driver, plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError>;

    /// What each worker is to do.
    fn role(&self, task: Task, plan: &Plan) -> Role;
}

/// What the parent holds for its workers. Whatever is left of it is given back when it is dropped.
pub(crate) trait Supplies {
    /// The descriptors to hand to every worker.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>>;

    /// By what workers get handles.
    fn carrier(&self) -> Carrier {
        Carrier::default()
    }

    /// Closes the descriptors, once every worker has its own copies.
    fn close_descriptors(&mut self);

    /// What is to be said of it, whether the run succeeds or not.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// Gives back what is left, once no worker uses it any more.
    fn release(&mut self) -> Result<(), DriverError>;
}

/// Why the size of the buffers cannot be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SizeError {
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error(transparent)]
    Driver(#[from] DriverError),
}

/// Why there are no supplies.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SupplyError {
    #[error(transparent)]
    Driver(#[from] DriverError),
    #[error(transparent)]
    SharedMemory(#[from] ShmError),
}

/// Checks that memory with these properties comes in pieces of this size. Gives the granularity.
pub(crate) fn check_granularity(
    driver: &dyn Driver,
    prop: &AllocationProp,
    size: ByteSize,
) -> Result<ByteSize, SizeError> {
    let granularity = driver.mem_get_allocation_granularity(prop, GranularityOption::MINIMUM)?;
    if size.is_multiple_of(granularity) {
        return Ok(granularity);
    }
    let next = size.checked_next_multiple_of(granularity);
    Err(UsageError::Granularity { size, granularity, next }.into())
}

/// Checks that buffers of `size` fit: so many on each device, and all of them on this host if it has to back them.
///
/// # Units
/// Memory is given in whole pages of `page` bytes.
pub(crate) fn check_room(
    driver: &dyn Driver,
    buffers: &[(&Chosen, u32)],
    size: ByteSize,
    page: ByteSize,
    host_limit: Option<ByteSize>,
) -> Result<(), SizeError> {
    let mut rooms = Vec::new();
    for (device, count) in buffers {
        let limit = driver.device_total_mem(device.device)?;
        rooms.push(Room { device: Some(device), count: *count, limit: whole(limit, page) });
    }
    rooms.extend(host_room(buffers.iter().map(|(_, count)| count).sum(), page, host_limit));
    hold(&rooms, size, page)
}

/// The same for buffers that lie on this host in any case.
pub(crate) fn check_host_room(
    count: u32,
    size: ByteSize,
    page: ByteSize,
    host_limit: Option<ByteSize>,
) -> Result<(), SizeError> {
    let rooms: Vec<_> = host_room(count, page, host_limit).into_iter().collect();
    hold(&rooms, size, page)
}

/// What is left of a page holds nothing, and would be shown in bytes.
fn whole(limit: ByteSize, page: ByteSize) -> ByteSize {
    share(limit, 1, page).unwrap_or(ByteSize::ZERO)
}

fn host_room(count: u32, page: ByteSize, host_limit: Option<ByteSize>) -> Option<Room<'static>> {
    host_limit.map(|limit| Room { device: None, count, limit: whole(limit, page) })
}

/// Checks that each room holds what it has to.
fn hold(rooms: &[Room<'_>], size: ByteSize, page: ByteSize) -> Result<(), SizeError> {
    // The narrowest is the one to name: whoever heeds another would meet it next.
    let Some(narrowest) = rooms.iter().min_by_key(|room| room.limit.get() / u64::from(room.count.max(1))) else {
        return Ok(());
    };
    if narrowest.holds(size, page) { Ok(()) } else { Err(narrowest.refusal(size, page).into()) }
}

/// Room for some buffers.
struct Room<'a> {
    /// Where; `None`: on this host.
    device: Option<&'a Chosen>,
    count: u32,
    limit: ByteSize,
}

impl Room<'_> {
    fn holds(&self, size: ByteSize, page: ByteSize) -> bool {
        let needed = size.checked_next_multiple_of(page).and_then(|each| each.checked_mul(u64::from(self.count)));
        needed.is_some_and(|needed| needed <= self.limit)
    }

    fn refusal(&self, size: ByteSize, page: ByteSize) -> UsageError {
        let (workers, limit, most) = (self.count, self.limit, share(self.limit, self.count, page));
        match self.device {
            Some(Chosen { device, .. }) => {
                UsageError::LargerThanDevice { workers, size, device: device.to_string(), total: limit, most }
            }
            None => UsageError::LargerThanHost { workers, size, limit, most },
        }
    }
}
