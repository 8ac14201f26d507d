//! A buffer, mapped for one device, and the deeds on it.

use std::os::fd::BorrowedFd;

use peermap_driver::{AccessDesc, AccessFlags, ByteSize, Device, DevicePtr, Driver, DriverError, Location};
use peermap_report::Try;

use super::{Deed, Right};
use crate::check::{Difference, VerifyOn, on_device, on_host};
use crate::content::{Author, Content};
use crate::device_kernels::Buffer;
use crate::exported::map;
use crate::worker::WorkerError;
use crate::workplace::Workplace;

/// What [`Deed::Set`] sets each byte to.
const SET: u8 = 0xA5;

/// A buffer of a worker, mapped.
pub(super) struct Mapped<'d> {
    driver: &'d dyn Driver,
    descriptor: BorrowedFd<'d>,
    pub(super) buffer: Buffer,
}

impl<'d> Mapped<'d> {
    /// Reserves addresses and maps the buffer that a descriptor stands for. No device has any right on it.
    pub(super) fn new(driver: &'d dyn Driver, descriptor: BorrowedFd<'d>, size: ByteSize) -> Result<Self, DriverError> {
        let ptr = driver.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0)?;
        let mapped = Self { driver, descriptor, buffer: Buffer { ptr, size } };
        map(driver, descriptor.into(), mapped.buffer)?;
        Ok(mapped)
    }

    /// Maps it again, so that no device has any right on it.
    fn map_afresh(&self) -> Result<(), DriverError> {
        self.driver.mem_unmap(self.buffer.ptr, self.buffer.size)?;
        map(self.driver, self.descriptor.into(), self.buffer)
    }

    /// Gives a device rights.
    pub(super) fn grant(&self, device: Device, flags: AccessFlags) -> Result<(), DriverError> {
        let desc = AccessDesc { location: Location::device(device.0), flags };
        self.driver.mem_set_access(self.buffer.ptr, self.buffer.size, &[desc])
    }

    /// Gives the mapping and its addresses back. That needs no context.
    pub(super) fn give_back(self) -> Result<(), DriverError> {
        self.driver.mem_unmap(self.buffer.ptr, self.buffer.size)?;
        self.driver.mem_address_free(self.buffer.ptr, self.buffer.size)
    }
}

/// Deeds of one device on a buffer.
pub(super) struct Trial<'a, 'd> {
    pub(super) workplace: &'a Workplace<'d>,
    pub(super) mapped: Mapped<'d>,
    pub(super) device: Device,
    pub(super) others: &'a [Device],
    pub(super) verify_on: VerifyOn,
    /// Who filled the buffer last.
    pub(super) author: Author,
}

/// What came of a try: a line for the report, or bytes that are wrong.
pub(super) type Tried = Result<Try, Difference>;

impl Trial<'_, '_> {
    /// Gives the device its rights on a fresh mapping, as they are come to, and every other device all of them. Gives the first
    /// wrong byte that was seen on the way.
    pub(super) fn establish(&self, right: Right) -> Result<Option<Difference>, WorkerError> {
        let Mapped { driver, buffer, .. } = self.mapped;
        self.mapped.map_afresh()?;
        for other in self.others {
            self.mapped.grant(*other, AccessFlags::READWRITE)?;
        }
        for (number, flags) in (1..).zip(right.grants()) {
            self.mapped.grant(self.device, *flags)?;
            // Whatever remembers the rights has seen those that will not last.
            let lasts = number == right.grants().len();
            if !lasts && let Some(difference) = on_device(driver, &self.workplace.kernels, buffer, self.author)? {
                return Ok(Some(difference));
            }
        }
        self.check_said(self.device, right.flags())?;
        self.others.iter().try_for_each(|other| self.check_said(*other, AccessFlags::READWRITE))?;
        Ok(None)
    }

    /// Asks the driver for the rights of a device.
    fn check_said(&self, device: Device, given: AccessFlags) -> Result<(), WorkerError> {
        let said = self.mapped.driver.mem_get_access(self.mapped.buffer.ptr, Location::device(device.0))?;
        if said == given { Ok(()) } else { Err(WorkerError::RightsSaid { device, said, given }) }
    }

    /// Tries a deed with a right that is established.
    pub(super) fn attempt(&mut self, right: Right, deed: Deed) -> Result<Tried, WorkerError> {
        let outcome = self.perform(deed);
        let line = |answer: String| Try { right: right.to_string(), deed: deed.to_string(), answer };
        match outcome {
            Ok(Some(difference)) => Ok(Err(difference)),
            Ok(None) if deed.is_permitted(right) => Ok(Ok(line("done".to_owned()))),
            Err(error) if !deed.is_permitted(right) && deed.is_refused_by(&error) => {
                Ok(Ok(line(error.result().map_or_else(String::new, |result| result.to_string()))))
            }
            Ok(None) => Err(WorkerError::Permitted { right, deed }),
            Err(source) if deed.is_permitted(right) => Err(WorkerError::Forbidden { right, deed, source }),
            Err(source) => Err(source.into()),
        }
    }

    /// Does it, waits for its end, and looks at what it did. Gives the first wrong byte.
    fn perform(&mut self, deed: Deed) -> Result<Option<Difference>, DriverError> {
        let Workplace { kernels, stream, .. } = self.workplace;
        let Mapped { driver, buffer, .. } = self.mapped;
        match deed {
            Deed::Copy => on_host(driver, buffer, kernels.content(self.author)),
            Deed::Load => on_device(driver, kernels, buffer, self.author),
            Deed::Set => {
                driver.memset_d8(buffer.ptr, SET, buffer.size)?;
                driver.ctx_synchronize()?;
                on_host(driver, buffer, Content::Repeated(SET))
            }
            Deed::Store => {
                let author = Author { step: self.author.step + 1, ..self.author };
                kernels.fill(buffer, author)?;
                driver.stream_synchronize(*stream)?;
                self.author = author;
                self.verify_on.look(driver, kernels, buffer, author)
            }
        }
    }
}
