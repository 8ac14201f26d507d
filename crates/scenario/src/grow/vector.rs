//! The vector.

use std::ops::Range as Numbers;

use peermap_driver::{ByteSize, MemHandle, Result};

use super::range::{Place, Range};
use crate::device_kernels::Buffer;
use crate::own_memory::prop;

/// How much more room is reserved than is needed.
const AHEAD: u32 = 2;

/// How a vector came to more room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// It had it.
    InPlace,
    /// By the addresses right behind it.
    Extended,
    /// Elsewhere: its chunks are mapped at new addresses too.
    Moved,
}

/// A vector of chunks that grows and shrinks without copying. What is left of it is given back when it is dropped.
pub(super) struct Vector<'d> {
    place: Place<'d>,
    range: Range<'d>,
    /// Where it lay before.
    left: Vec<Range<'d>>,
    /// The memory of each chunk; `None`: freed.
    chunks: Vec<Option<MemHandle>>,
    high_water: ByteSize,
}

impl<'d> Vector<'d> {
    /// An empty vector with addresses for `room` chunks.
    pub(super) fn new(place: Place<'d>, room: u32) -> Result<Self> {
        let range = Range::reserve(place, room)?;
        let high_water = range.size();
        Ok(Self { place, range, left: Vec::new(), chunks: Vec::new(), high_water })
    }

    /// How many chunks it has, freed ones included.
    pub(super) fn len(&self) -> u32 {
        self.chunks.len() as u32
    }

    /// Where it lies now.
    pub(super) fn range(&self) -> &Range<'d> {
        &self.range
    }

    /// Every place where a chunk is mapped: where it is now, and where it was before.
    pub(super) fn places_of(&self, number: u32) -> Vec<Buffer> {
        let handle = self.chunks.get(number as usize).copied().flatten();
        handle.iter().flat_map(|handle| self.ranges().filter_map(|range| range.find(*handle))).collect()
    }

    /// All chunks in a row.
    pub(super) fn all(&self) -> Buffer {
        Buffer { size: ByteSize::new(self.place.chunk.get() * u64::from(self.len())), ..self.range.all() }
    }

    /// The most addresses that it had reserved at once.
    pub(super) fn high_water(&self) -> ByteSize {
        self.high_water
    }

    /// Grows to `count` chunks, or changes nothing that it has and no address that it has.
    pub(super) fn grow_to(&mut self, count: u32) -> Result<Growth> {
        let numbers = self.len()..count;
        let growth = if count <= self.range.room() {
            Growth::InPlace
        } else if self.range.extend(AHEAD.saturating_mul(count) - self.range.room())? {
            Growth::Extended
        } else {
            Growth::Moved
        };
        let added = match growth {
            Growth::InPlace | Growth::Extended => add(self.place, &mut self.range, numbers)?,
            Growth::Moved => {
                let mut elsewhere = map_all(self.place, AHEAD.saturating_mul(count), &self.chunks)?;
                let added = add(self.place, &mut elsewhere, numbers)?;
                self.move_to(elsewhere);
                added
            }
        };
        self.chunks.extend(added.into_iter().map(Some));
        self.note_addresses();
        Ok(growth)
    }

    /// Shrinks to `count` chunks. The addresses stay reserved.
    pub(super) fn shrink_to(&mut self, count: u32) -> Result<()> {
        (count..self.len()).rev().try_for_each(|number| self.free(number))?;
        self.chunks.truncate(count as usize);
        Ok(())
    }

    /// Frees a chunk and leaves a hole.
    pub(super) fn free(&mut self, number: u32) -> Result<()> {
        let Some(handle) = self.chunks.get_mut(number as usize).and_then(Option::take) else { return Ok(()) };
        for range in std::iter::once(&mut self.range).chain(&mut self.left) {
            range.unmap(handle)?;
        }
        self.place.driver.mem_release(handle)
    }

    /// Maps what was not freed in a row, elsewhere; or changes nothing.
    pub(super) fn gather(&mut self) -> Result<()> {
        let kept: Vec<_> = self.chunks.iter().copied().filter(Option::is_some).collect();
        let elsewhere = map_all(self.place, kept.len() as u32, &kept)?;
        self.move_to(elsewhere);
        self.chunks = kept;
        self.note_addresses();
        Ok(())
    }

    /// Gives up the addresses that it has left. Pointers to them are no longer valid.
    pub(super) fn forget_old(&mut self) -> Result<()> {
        self.left.drain(..).try_for_each(|mut range| range.give_back())
    }

    /// Gives everything back, and the first thing that went wrong.
    pub(super) fn give_back(&mut self) -> Result<()> {
        let forgotten = self.forget_old();
        let mut result = forgotten.and(self.range.give_back());
        for handle in self.chunks.drain(..).flatten() {
            let released = self.place.driver.mem_release(handle);
            result = result.and(released);
        }
        result
    }

    fn ranges(&self) -> impl Iterator<Item = &Range<'d>> {
        std::iter::once(&self.range).chain(&self.left)
    }

    fn move_to(&mut self, elsewhere: Range<'d>) {
        self.left.push(std::mem::replace(&mut self.range, elsewhere));
    }

    fn note_addresses(&mut self) {
        let reserved = self.ranges().map(|range| range.size().get()).sum();
        self.high_water = self.high_water.max(ByteSize::new(reserved));
    }
}

impl Drop for Vector<'_> {
    fn drop(&mut self) {
        // If there is anything left, something has failed already, and that failure is the one to report.
        let _ = self.give_back();
    }
}

/// Addresses for `room` chunks, with the memory of these mapped in their order.
fn map_all<'d>(place: Place<'d>, room: u32, chunks: &[Option<MemHandle>]) -> Result<Range<'d>> {
    let mut range = Range::reserve(place, room)?;
    for (number, handle) in (0..).zip(chunks) {
        handle.map_or(Ok(()), |handle| range.map(number, handle))?;
    }
    Ok(range)
}

/// Allocates and maps the chunks of these numbers, or none.
fn add(place: Place<'_>, range: &mut Range<'_>, numbers: Numbers<u32>) -> Result<Vec<MemHandle>> {
    let mut added = Vec::new();
    for number in numbers {
        let made = place.driver.mem_create(place.chunk, &prop(place.device.0), 0);
        let mapped = made.and_then(|handle| {
            added.push(handle);
            range.map(number, handle)
        });
        if let Err(error) = mapped {
            for handle in added {
                // What cannot be undone here is not to hide what went wrong first.
                let _ = range.unmap(handle);
                let _ = place.driver.mem_release(handle);
            }
            return Err(error);
        }
    }
    Ok(added)
}
