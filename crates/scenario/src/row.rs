//! The buffers of all workers, mapped one behind the other.

use peermap_driver::{AccessDesc, ByteSize, DevicePtr, Driver, MemHandle};

use crate::device_kernels::Buffer;
use crate::messages::Step;
use crate::ring::Memory;
use crate::worker::{Station, WorkerError};

/// The alignment of the reservation: the size of a buffer in NVIDIA's sample.
const ALIGNMENT: ByteSize = ByteSize::mib(4);

/// The buffers of all workers, mapped one behind the other.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    start: DevicePtr,
    /// What is used of each buffer.
    size: ByteSize,
    /// What each buffer has, which is a multiple of the granularity.
    room: ByteSize,
    all: ByteSize,
}

impl Row {
    /// Reserves addresses for a buffer of each worker.
    pub(crate) fn reserve(station: &mut Station<'_>, size: ByteSize, room: ByteSize) -> Result<Self, WorkerError> {
        station.begin(Step::Reserve)?;
        let workers = station.workers;
        let all = room.checked_mul(u64::from(workers)).ok_or(WorkerError::TooLarge { workers, size: size.get() })?;
        let start = station.driver.mem_address_reserve(all, ALIGNMENT, DevicePtr::NULL, 0)?;
        Ok(Self { start, size, room, all })
    }

    /// Maps a buffer, and lets go of its handle: the mapping keeps the memory.
    pub(crate) fn map(&self, driver: &dyn Driver, number: u32, handle: MemHandle) -> peermap_driver::Result<()> {
        driver.mem_map(self.buffer(number).ptr, self.room, ByteSize::ZERO, handle, 0)?;
        driver.mem_release(handle)
    }

    /// Lets the worker's device in.
    pub(crate) fn open(&self, station: &mut Station<'_>) -> Result<(), WorkerError> {
        station.begin(Step::Access)?;
        let access = AccessDesc::read_write(station.device.0);
        Ok(station.driver.mem_set_access(self.start, self.all, &[access])?)
    }
}

impl Memory for Row {
    fn buffer(&self, number: u32) -> Buffer {
        let all = Buffer { ptr: self.start, size: self.all };
        Buffer { ptr: all.at(self.room.get().saturating_mul(u64::from(number))), size: self.size }
    }

    fn give_back(self, driver: &dyn Driver) -> peermap_driver::Result<()> {
        driver.mem_unmap(self.start, self.all)?;
        driver.mem_address_free(self.start, self.all)
    }
}
