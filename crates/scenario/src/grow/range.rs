//! Addresses in a row, and which memory is mapped to them.

use peermap_driver::{AccessDesc, ByteSize, Device, DevicePtr, Driver, MemHandle, Result};

use crate::device_kernels::Buffer;

/// Where chunks are mapped, and for whom.
#[derive(Clone, Copy)]
pub(super) struct Place<'d> {
    pub(super) driver: &'d dyn Driver,
    pub(super) device: Device,
    /// The size of a chunk.
    pub(super) chunk: ByteSize,
}

impl Place<'_> {
    /// The size of so many chunks.
    fn size(&self, count: u32) -> ByteSize {
        // A vector is at most a size that was given in 64 bits, and its room four times that: addresses end before the number does.
        ByteSize::new(self.chunk.get().saturating_mul(u64::from(count)))
    }
}

/// Addresses in a row. Whatever is left of them is given back when they are dropped.
pub(super) struct Range<'d> {
    place: Place<'d>,
    /// The reservations, one behind the other: where each begins, and how many chunks it has room for.
    reserved: Vec<(DevicePtr, u32)>,
    /// Addresses elsewhere that could not be given back at once.
    astray: Vec<(DevicePtr, u32)>,
    /// The memory that is mapped as each chunk of the room.
    mapped: Vec<Option<MemHandle>>,
}

impl<'d> Range<'d> {
    /// Reserves addresses for `count` chunks.
    pub(super) fn reserve(place: Place<'d>, count: u32) -> Result<Self> {
        let start = place.driver.mem_address_reserve(place.size(count), ByteSize::ZERO, DevicePtr::NULL, 0)?;
        Ok(Self { place, reserved: vec![(start, count)], astray: Vec::new(), mapped: vec![None; count as usize] })
    }

    /// Reserves the addresses right behind for `count` more chunks, if they are free.
    pub(super) fn extend(&mut self, count: u32) -> Result<bool> {
        let (driver, end) = (self.place.driver, self.all().at(self.size().get()));
        let start = driver.mem_address_reserve(self.place.size(count), ByteSize::ZERO, end, 0)?;
        if start != end {
            let freed = driver.mem_address_free(start, self.place.size(count));
            return freed.map(|()| false).inspect_err(|_| self.astray.push((start, count)));
        }
        self.reserved.push((start, count));
        self.mapped.resize(self.mapped.len() + count as usize, None);
        Ok(true)
    }

    /// For how many chunks there is room.
    pub(super) fn room(&self) -> u32 {
        self.reserved.iter().map(|(_, count)| count).sum()
    }

    /// The size of the room.
    pub(super) fn size(&self) -> ByteSize {
        self.place.size(self.room())
    }

    /// All of the room.
    pub(super) fn all(&self) -> Buffer {
        Buffer { ptr: self.reserved[0].0, size: self.size() }
    }

    /// Where a chunk is, or would be.
    pub(super) fn chunk(&self, number: u32) -> Buffer {
        Buffer { ptr: self.all().at(self.place.size(number).get()), size: self.place.chunk }
    }

    /// Where this memory is mapped.
    pub(super) fn find(&self, handle: MemHandle) -> Option<Buffer> {
        (0..).zip(&self.mapped).find(|(_, mapped)| **mapped == Some(handle)).map(|(number, _)| self.chunk(number))
    }

    /// Maps memory as the chunk of this number and lets the device in; or changes nothing.
    pub(super) fn map(&mut self, number: u32, handle: MemHandle) -> Result<()> {
        let (Buffer { ptr, size }, driver) = (self.chunk(number), self.place.driver);
        driver.mem_map(ptr, size, ByteSize::ZERO, handle, 0)?;
        driver.mem_set_access(ptr, size, &[AccessDesc::read_write(self.place.device.0)]).inspect_err(|_| {
            // What stays mapped here would be in the way of the next try, and that refusal is the one to report.
            let _ = driver.mem_unmap(ptr, size);
        })?;
        self.mapped[number as usize] = Some(handle);
        Ok(())
    }

    /// Unmaps this memory, if it is mapped.
    pub(super) fn unmap(&mut self, handle: MemHandle) -> Result<()> {
        let Some(Buffer { ptr, size }) = self.find(handle) else { return Ok(()) };
        self.mapped.iter_mut().filter(|mapped| **mapped == Some(handle)).for_each(|mapped| *mapped = None);
        self.place.driver.mem_unmap(ptr, size)
    }

    /// How much of what is free below `end` lies apart from its longest run, in percent.
    pub(super) fn fragmentation_percent(&self, end: u32) -> f64 {
        let runs = self.mapped[..end as usize].split(Option::is_some).map(<[_]>::len);
        let (free, longest) = runs.fold((0, 0), |(free, longest), run| (free + run, longest.max(run)));
        if free == 0 { 0.0 } else { 100.0 * (free - longest) as f64 / free as f64 }
    }

    /// Unmaps everything and gives the addresses back; gives the first thing that went wrong.
    pub(super) fn give_back(&mut self) -> Result<()> {
        let mut result = Ok(());
        for handle in self.mapped.iter().flatten().copied().collect::<Vec<_>>() {
            let unmapped = self.unmap(handle);
            result = result.and(unmapped);
        }
        for (start, count) in self.reserved.drain(..).chain(self.astray.drain(..)) {
            let freed = self.place.driver.mem_address_free(start, self.place.size(count));
            result = result.and(freed);
        }
        result
    }
}

impl Drop for Range<'_> {
    fn drop(&mut self) {
        // If there is anything left, something has failed already, and that failure is the one to report.
        let _ = self.give_back();
    }
}
