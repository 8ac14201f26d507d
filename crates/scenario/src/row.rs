//! The buffers of all workers, mapped one behind the other.

use peermap_driver::{AccessDesc, ByteSize, DevicePtr, Driver, MemHandle, OsHandle};

use crate::device_kernels::Buffer;
use crate::exported::{map, map_only};
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

    /// Maps a buffer, and lets go of its handle.
    pub(crate) fn map(&self, driver: &dyn Driver, number: u32, handle: MemHandle) -> peermap_driver::Result<()> {
        map_only(driver, handle, self.room_of(number))
    }

    /// Imports a buffer and maps it.
    pub(crate) fn import(&self, driver: &dyn Driver, number: u32, from: OsHandle<'_>) -> peermap_driver::Result<()> {
        map(driver, from, self.room_of(number))
    }

    /// All that a buffer has.
    fn room_of(&self, number: u32) -> Buffer {
        Buffer { size: self.room, ..self.buffer(number) }
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
