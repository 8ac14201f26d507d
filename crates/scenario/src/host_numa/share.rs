//! A buffer of the host in a worker: rights, and what device and CPU do with it.

use peermap_driver::{AccessDesc, AccessFlags, CuResult, Device, Driver, DriverError, Location};
use peermap_report::{FailureKind, Try};

use super::Act;
use crate::check::{CHUNK, Difference, in_pieces, on_device};
use crate::content::Author;
use crate::device_kernels::Buffer;
use crate::error::kind_of_driver_error;
use crate::worker::WorkerError;
use crate::workplace::Workplace;

/// Where rights of the host are asked for: the driver ignores the number of the node.
const HOST: Location = Location::host_numa(0);

/// A buffer, mapped for a worker's device and for its CPU.
#[derive(Clone, Copy)]
pub(super) struct Share<'a, 'd> {
    pub(super) driver: &'d dyn Driver,
    pub(super) workplace: &'a Workplace<'d>,
    pub(super) device: Device,
    /// Whose buffer it is.
    pub(super) number: u32,
    pub(super) buffer: Buffer,
}

/// What came of an act: the first wrong byte that it saw, if it saw one.
type Seen = Result<Option<Difference>, DriverError>;

impl Share<'_, '_> {
    /// Gives the device and the host rights, each by a call of its own, and has the driver say which they have.
    pub(super) fn grant(&self, device: AccessFlags, host: AccessFlags) -> Result<(), WorkerError> {
        let Self { driver, buffer, .. } = *self;
        let places = [(Location::device(self.device.0), device), (HOST, host)];
        for (location, flags) in places {
            driver.mem_set_access(buffer.ptr, buffer.size, &[AccessDesc { location, flags }])?;
        }
        for (location, given) in places {
            let said = driver.mem_get_access(buffer.ptr, location)?;
            if said != given {
                return Err(WorkerError::PlaceRightsSaid { location, said, given });
            }
        }
        Ok(())
    }

    /// Does it in the name of an author, or looks for what that author left, and waits for the end.
    pub(super) fn act(&self, act: Act, author: Author) -> Seen {
        let Self { driver, workplace, buffer, .. } = *self;
        let Workplace { kernels, stream, .. } = workplace;
        match act {
            Act::CpuRead => in_pieces(buffer, kernels.content(author), |piece, at| driver.host_read(piece, at)),
            Act::CpuWrite => self.cpu_write(author).map(|()| None),
            Act::KernelRead => on_device(driver, kernels, buffer, author),
            Act::KernelWrite => {
                kernels.fill(buffer, author)?;
                driver.stream_synchronize(*stream).map(|()| None)
            }
        }
    }

    /// The same as a try, with rights that permit it or not.
    pub(super) fn attempt(&self, right: &str, act: Act, author: Author, permitted: bool) -> Result<Tried, WorkerError> {
        let line = |answer: String| Try { right: right.to_owned(), deed: act.to_string(), answer };
        match self.act(act, author) {
            Ok(Some(difference)) => Ok(Err(difference)),
            Ok(None) if permitted => Ok(Ok(line("done".to_owned()))),
            Ok(None) => Err(WorkerError::Reached { right: right.to_owned(), act }),
            Err(error) if !permitted && refuses(act, &error) => {
                Ok(Ok(line(error.result().map_or_else(String::new, |result| result.to_string()))))
            }
            Err(source) => Err(source.into()),
        }
    }

    fn cpu_write(&self, author: Author) -> Result<(), DriverError> {
        let content = self.workplace.kernels.content(author);
        let (size, mut offset) = (self.buffer.size.get(), 0);
        while offset < size {
            let len = (size - offset).min(CHUNK as u64);
            let bytes: Vec<u8> = (offset..offset + len).step_by(8).flat_map(|at| content.eight(at)).collect();
            self.driver.host_write(self.buffer.at(offset), &bytes[..len as usize])?;
            offset += len;
        }
        Ok(())
    }
}

/// A line for the report, or bytes that are wrong.
pub(super) type Tried = Result<Try, Difference>;

/// Whether an act that is not permitted must end so: the CPU is kept back, a kernel faults.
fn refuses(act: Act, error: &DriverError) -> bool {
    match act {
        Act::CpuRead | Act::CpuWrite => error.result() == Some(CuResult::ILLEGAL_ADDRESS),
        Act::KernelRead | Act::KernelWrite => kind_of_driver_error(error) == FailureKind::DeviceFault,
    }
}
