//! The vectors, mapped in a worker.

use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};

use peermap_driver::{AccessDesc, ByteSize, Device, DevicePtr, Driver, Location, OsHandle, Result};

use super::layout::Layout;
use crate::device_kernels::Buffer;
use crate::exported::map;

/// How many vectors there are: two, and their sum.
pub(super) const VECTORS: u32 = 3;

/// Three ranges of addresses, to which stripes are mapped.
pub(super) struct Vectors<'d> {
    driver: &'d dyn Driver,
    layout: Layout,
    /// Where each vector begins.
    pub(super) start: [DevicePtr; VECTORS as usize],
}

impl<'d> Vectors<'d> {
    /// Reserves addresses for all that will come.
    pub(super) fn reserve(driver: &'d dyn Driver, layout: Layout) -> Result<Self> {
        let reserve = || driver.mem_address_reserve(layout.size(), ByteSize::ZERO, DevicePtr::NULL, 0);
        Ok(Self { driver, layout, start: [reserve()?, reserve()?, reserve()?] })
    }

    /// Maps some stripes of each vector, with these calls. `descriptors` are those of all stripes, vector by vector.
    pub(super) fn map(&self, driver: &dyn Driver, stripes: Range<u32>, descriptors: &[OwnedFd]) -> Result<()> {
        let vectors = self.start.iter().zip(descriptors.chunks(self.layout.stripes as usize));
        for (start, descriptors) in vectors {
            for stripe in stripes.clone() {
                map(driver, OsHandle::Fd(descriptors[stripe as usize].as_fd()), self.stripe(*start, stripe))?;
            }
        }
        Ok(())
    }

    /// Lets a device read and write some stripes of each vector, with these calls.
    pub(super) fn let_in(&self, driver: &dyn Driver, device: Device, stripes: Range<u32>) -> Result<()> {
        let size = ByteSize::new(self.layout.stripe.get() * u64::from(stripes.end - stripes.start));
        self.start.iter().filter(|_| !size.is_zero()).try_for_each(|start| {
            let first = self.stripe(*start, stripes.start).ptr;
            driver.mem_set_access(first, size, &[AccessDesc::read_write(device.0)])
        })
    }

    /// The first stripe that does not lie where it should, with where it does. `devices`: those of the workers.
    pub(super) fn misplaced(&self, devices: &[Device]) -> Result<Option<(u32, Device, Location)>> {
        for start in self.start {
            for stripe in 0..self.layout.stripes {
                let handle = self.driver.mem_retain_allocation_handle(self.stripe(start, stripe).ptr)?;
                let location = self.driver.mem_get_allocation_properties_from_handle(handle)?.location;
                self.driver.mem_release(handle)?;
                let wanted = devices[self.layout.device_of(stripe) as usize];
                if location != Location::device(wanted.0) {
                    return Ok(Some((stripe, wanted, location)));
                }
            }
        }
        Ok(None)
    }

    /// Gives mappings and addresses back.
    pub(super) fn give_back(self) -> Result<()> {
        for start in self.start {
            self.driver.mem_unmap(start, self.layout.size())?;
            self.driver.mem_address_free(start, self.layout.size())?;
        }
        Ok(())
    }

    fn stripe(&self, start: DevicePtr, number: u32) -> Buffer {
        let all = Buffer { ptr: start, size: self.layout.size() };
        Buffer { ptr: all.at(self.layout.stripe.get() * u64::from(number)), size: self.layout.stripe }
    }
}
