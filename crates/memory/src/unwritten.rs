//! Bytes that nobody has written.

use crate::View;
use crate::granule::GranuleSize;

/// Questions that only arenas with a record of written bytes can answer: see [`Arena::marked`](crate::Arena::marked).
impl View<'_> {
    /// The first of `len` bytes that nothing was ever written to, by whichever process, since the memory was made. What
    /// is not mapped is not looked at, nor what comes after. A copy of such bytes is as unwritten as they are.
    #[must_use]
    pub fn first_unwritten(&self, address: u64, len: u64) -> Option<u64> {
        let mut done = 0;
        while done < len {
            let here = address.wrapping_add(done);
            let (arena, offset) = self.place(here)?;
            let part = self.part(here, len - done);
            if let Some(found) = self.first_mark(false, (arena, offset), part) {
                return Some(here + (found - offset));
            }
            done += part;
        }
        None
    }

    /// Makes bytes that were copied as written or unwritten as their source. Ranges that overlap stay written.
    pub(crate) fn copy_marks(&self, address: u64, source: &View<'_>, source_address: u64, len: u64) {
        if address.abs_diff(source_address) < len {
            return;
        }
        let mut done = 0;
        while done < len {
            let (from, to) = (source_address.wrapping_add(done), address.wrapping_add(done));
            let (Some(from_place), Some((arena, offset))) = (source.place(from), self.place(to)) else { return };
            let part = self.part(to, source.part(from, len - done));
            let Some(marks) = self.arena(arena).written_bytes() else { return };
            let (start, mut at) = (from_place.1, 0);
            while let Some(unset) = source.first_mark(false, (from_place.0, start + at), part - at) {
                let begin = unset - start;
                let set = source.first_mark(true, (from_place.0, unset), part - begin);
                at = set.map_or(part, |set| set - start);
                marks.unset(offset + begin, at - begin);
            }
            done += part;
        }
    }

    /// The first byte of a part of a granule that is marked as written, or is not: its offset in the arena.
    fn first_mark(&self, marked: bool, (place, offset): (u8, u64), len: u64) -> Option<u64> {
        let arena = self.arena(place);
        let marks = arena.written_bytes()?;
        let granule = GranuleSize::new(arena.granule_bytes()).ok()?.index(offset);
        match arena.is_written(granule) {
            true => marks.first(marked, offset, len),
            // Reading the record of fresh memory would take memory.
            false => (!marked && len > 0).then_some(offset),
        }
    }
}
