//! One device of the team.

use peermap_driver::{
    AccessDesc, AllocationProp, ByteSize, Device, DevicePtr, Driver, HandleType, MemHandle, OsHandle, Result,
};

use super::kernels::{NormPlaces, TeamKernels};
use super::values::{author_of_copy, author_of_part, author_of_sum, norm_of, part_of, part_of_norm};
use crate::check::{Difference, VerifyOn};
use crate::device_kernels::Buffer;
use crate::worker::WorkerError;
use crate::workplace::Workplace;

/// Where the parts of the norm lie in each copy, and the counter of arrivals.
const PART_AT: u64 = 0;
const COUNTER_AT: u64 = 128;

/// One device of the team, with a context of its own.
pub(super) struct Rank<'d> {
    pub(super) driver: &'d dyn Driver,
    /// Its number, and how many there are.
    pub(super) number: u32,
    pub(super) ranks: u32,
    pub(super) device: Device,
    pub(super) workplace: Workplace<'d>,
    pub(super) kernels: TeamKernels<'d>,
    pub(super) verify_on: VerifyOn,
    /// What is used of its memory, and what that has: a multiple of the team's granularity.
    pub(super) size: ByteSize,
    pub(super) room: ByteSize,
    /// The team, once it has joined, and as what it is shared.
    pub(super) team: MemHandle,
    pub(super) handle_type: HandleType,
    /// Its own memory, mapped for itself alone, and the handle of that.
    pub(super) memory: MemHandle,
    pub(super) own: Buffer,
    /// The memory of all, by the team.
    pub(super) through: Buffer,
    /// Where sums go.
    pub(super) sum: Buffer,
}

impl Rank<'_> {
    /// Makes its context the current one. Nothing else of a rank is called before.
    pub(super) fn enter(&self) -> Result<()> {
        self.workplace.enter()
    }

    /// Imports the team, and adds its device unless it is to be absent.
    pub(super) fn join(&mut self, team: OsHandle<'_>, absent: bool) -> Result<()> {
        self.handle_type = team.handle_type();
        self.team = self.driver.mem_import_from_shareable_handle(team, self.handle_type)?;
        if absent { Ok(()) } else { self.driver.multicast_add_device(self.team, self.device) }
    }

    /// Allocates memory that can be shared as the team is, maps it, and binds it by its handle. The driver waits until all devices
    /// have been added.
    pub(super) fn bind(&mut self) -> Result<()> {
        let prop = AllocationProp::pinned_on(self.device.0, self.handle_type);
        self.memory = self.driver.mem_create(self.room, &prop, 0)?;
        self.own = self.map(self.memory)?;
        self.driver.multicast_bind_mem(self.team, ByteSize::ZERO, self.memory, ByteSize::ZERO, self.room, 0)
    }

    /// Maps the team.
    pub(super) fn map_team(&mut self) -> Result<()> {
        self.through = self.map(self.team)?;
        self.sum = Buffer { ptr: self.driver.mem_alloc(self.room)?, size: self.size };
        Ok(())
    }

    /// Maps memory for this device alone. The team's granularity is a multiple of any other, so its addresses serve all.
    fn map(&self, handle: MemHandle) -> Result<Buffer> {
        let ptr = self.driver.mem_address_reserve(self.room, alignment(self.room), DevicePtr::NULL, 0)?;
        self.driver.mem_map(ptr, self.room, ByteSize::ZERO, handle, 0)?;
        self.driver.mem_set_access(ptr, self.room, &[AccessDesc::read_write(self.device.0)])?;
        Ok(Buffer { ptr, size: self.size })
    }

    /// Takes its memory out of the team and binds it again, by its address.
    pub(super) fn bind_again(&self) -> Result<()> {
        self.unbind()?;
        self.driver.multicast_bind_addr(self.team, ByteSize::ZERO, self.own.ptr, self.room, 0)
    }

    fn unbind(&self) -> Result<()> {
        self.driver.multicast_unbind(self.team, self.device, ByteSize::ZERO, self.room)
    }

    /// Queues the stores of its part through the team.
    pub(super) fn store_part(&self) -> Result<()> {
        self.kernels.fill(self.part(self.through, self.number), author_of_part(self.number).id())
    }

    /// The part of a rank in a buffer.
    fn part(&self, of: Buffer, rank: u32) -> Buffer {
        let part = part_of(self.size.get(), rank, self.ranks);
        Buffer { ptr: of.at(part.start), size: ByteSize::new(part.end - part.start) }
    }

    /// Compares the part of a rank in its own copy with what that rank stored.
    pub(super) fn verify_part(&self, rank: u32) -> Result<Option<Difference>> {
        let (kernels, part) = (&self.workplace.kernels, self.part(self.own, rank));
        self.verify_on.look(self.driver, kernels, part, author_of_part(rank))
    }

    /// Queues the filling of its own copy.
    pub(super) fn fill_own(&self) -> Result<()> {
        self.workplace.kernels.fill(self.own, author_of_copy(self.number))
    }

    /// Queues the sum of all copies.
    pub(super) fn add_up(&self) -> Result<()> {
        self.kernels.sum(self.through, self.sum.ptr)
    }

    /// Compares the sums with what all ranks filled theirs with.
    pub(super) fn verify_sum(&self) -> Result<Option<Difference>> {
        self.verify_on.look(self.driver, &self.workplace.kernels, self.sum, author_of_sum(self.ranks))
    }

    /// Writes its part of the norm, and sets its counter to zero.
    pub(super) fn set_norm(&self) -> Result<()> {
        self.driver.memcpy_htod(self.own.at(PART_AT), &part_of_norm(self.number).to_le_bytes())?;
        self.driver.memcpy_htod(self.own.at(COUNTER_AT), &0_u32.to_le_bytes())
    }

    /// Queues the norm. Its work ends when that of every rank has begun.
    pub(super) fn queue_norm(&self) -> Result<()> {
        let places = NormPlaces {
            norm: self.sum.ptr,
            parts: self.through.at(PART_AT),
            counter: self.own.at(COUNTER_AT),
            counters: self.through.at(COUNTER_AT),
        };
        self.kernels.norm(places, self.ranks)
    }

    /// The norm, if it is the one that every rank must come to.
    pub(super) fn check_norm(&self) -> std::result::Result<f32, WorkerError> {
        let mut bytes = [0; 4];
        self.driver.memcpy_dtoh(&mut bytes, self.sum.ptr)?;
        let (norm, expected) = (f32::from_le_bytes(bytes), norm_of(self.ranks));
        // Sums are exact and roots rounded in one way, so there is one right answer.
        match norm.to_bits() == expected.to_bits() {
            true => Ok(norm),
            false => Err(WorkerError::Norm { rank: self.number, norm, expected }),
        }
    }

    /// Waits until its own work has ended.
    pub(super) fn synchronize(&self) -> Result<()> {
        self.driver.stream_synchronize(self.workplace.stream)
    }

    /// Gives everything back.
    pub(super) fn clear_away(self) -> Result<()> {
        self.enter()?;
        self.driver.mem_free(self.sum.ptr)?;
        self.kernels.unload()?;
        let Self { driver, workplace, .. } = self;
        driver.mem_unmap(self.through.ptr, self.room)?;
        driver.multicast_unbind(self.team, self.device, ByteSize::ZERO, self.room)?;
        driver.mem_unmap(self.own.ptr, self.room)?;
        for ptr in [self.through.ptr, self.own.ptr] {
            driver.mem_address_free(ptr, self.room)?;
        }
        driver.mem_release(self.memory)?;
        driver.mem_release(self.team)?;
        workplace.clear_away()
    }
}

/// The largest power of two that a size is a multiple of: whatever the granularity is, it is no larger.
const fn alignment(size: ByteSize) -> ByteSize {
    ByteSize::new(1 << size.get().trailing_zeros())
}
