//! Reservations and mappings: `cuMemAddressReserve`, `cuMemAddressFree`, `cuMemMap`, `cuMemUnmap`,
//! `cuMemRetainAllocationHandle`.

use peermap_driver::{ByteSize, CallSite, DevicePtr, MemHandle, Result};

use super::space::RangeKind;
use super::{HOST_TABLE, Outside, Process, REMEMBERED_REMOVALS};
use crate::lifecycle::{HandleEvent, handle_error};
use crate::rules;
use crate::wire::{Backing, Holding, Place, Rights};

/// The rights of the devices of a process on one mapping, a bit each for loads and for stores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct RightsMap {
    loads: u128,
    stores: u128,
}

impl RightsMap {
    /// How many devices a process can see at most.
    pub(super) const DEVICES: usize = 128;

    pub(super) const fn get(self, ordinal: usize) -> Rights {
        match ((self.loads >> ordinal) & 1 != 0, (self.stores >> ordinal) & 1 != 0) {
            (_, true) => Rights::ReadWrite,
            (true, false) => Rights::Read,
            (false, false) => Rights::None,
        }
    }

    pub(super) const fn set(&mut self, ordinal: usize, rights: Rights) {
        let bit = 1 << ordinal;
        let (loads, stores) = match rights {
            Rights::None => (0, 0),
            Rights::Read => (bit, 0),
            Rights::ReadWrite => (bit, bit),
        };
        self.loads = (self.loads & !bit) | loads;
        self.stores = (self.stores & !bit) | stores;
    }

    /// The devices that have any right.
    pub(super) fn granted(self) -> impl Iterator<Item = usize> {
        let mut left = self.loads;
        std::iter::from_fn(move || {
            (left != 0).then(|| {
                let ordinal = left.trailing_zeros() as usize;
                left &= left - 1;
                ordinal
            })
        })
    }
}

/// A mapping of a whole allocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapping {
    pub(super) size: u64,
    pub(super) handle: u64,
    pub(super) backing: Backing,
    pub(super) place: Place,
    pub(super) rights: RightsMap,
    pub(super) host_rights: Rights,
    pub(super) site: CallSite,
}

/// A mapping that is no more, for the explanation of faults.
#[derive(Clone, Copy, Debug)]
pub(super) struct Removed {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) site: CallSite,
}

impl Process {
    /// The mapping that holds an address, with its start.
    pub(super) fn mapping_at(&self, address: DevicePtr) -> Option<(u64, &Mapping)> {
        self.mappings.at(address.get())
    }

    /// The last mapping that touches a range, with its start.
    pub(super) fn mapping_in(&self, start: u64, end: u64) -> Option<(u64, &Mapping)> {
        self.mappings.last_in(start, end)
    }

    /// Whether a range is exactly one mapping: the usual case, and the cheapest to see.
    pub(super) fn is_one_mapping(&self, start: u64, size: ByteSize) -> bool {
        self.mappings.at(start).is_some_and(|(first, mapping)| first == start && mapping.size == size.get())
    }

    /// `cuMemAddressReserve`.
    ///
    /// # Errors
    /// RESERVE-1 to RESERVE-5.
    pub fn mem_address_reserve(
        &mut self,
        size: ByteSize,
        alignment: ByteSize,
        addr: DevicePtr,
        flags: u64,
    ) -> Result<DevicePtr> {
        let granularity = self.granularity();
        if flags != 0 && rules::RESERVE_4.is_on() {
            return Err(rules::RESERVE_4.refuse(&[("flags", &flags)], None));
        }
        if (size.is_zero() || !size.is_multiple_of(granularity)) && rules::RESERVE_1.is_on() {
            return Err(rules::RESERVE_1.refuse(&[("size", &size), ("granularity", &granularity)], None));
        }
        if !alignment.is_zero() && !alignment.get().is_power_of_two() && rules::RESERVE_2.is_on() {
            return Err(rules::RESERVE_2.refuse(&[("alignment", &alignment)], None));
        }
        if !addr.is_multiple_of(granularity) && rules::RESERVE_3.is_on() {
            return Err(rules::RESERVE_3.refuse(&[("addr", &addr), ("granularity", &granularity)], None));
        }
        self.space
            .take(size.get(), alignment.get(), addr.get(), RangeKind::Reservation, self.site, &self.chooser)
            .map(DevicePtr::new)
            .ok_or_else(|| {
                let taken = ByteSize::new(self.space.taken());
                rules::RESERVE_5.refuse(&[("size", &size), ("alignment", &alignment), ("taken", &taken)], None)
            })
    }

    /// `cuMemAddressFree`.
    ///
    /// # Errors
    /// FREE-1, FREE-2.
    pub fn mem_address_free(&mut self, ptr: DevicePtr, size: ByteSize) -> Result<()> {
        let exact = |range: &&super::space::Range| range.kind == RangeKind::Reservation && range.size == size.get();
        let Some(range) = self.space.starting_at(ptr.get()).filter(exact) else {
            let around = self.space.containing(ptr.get()).map(|range| range.site);
            return Err(rules::FREE_1.refuse(&[("ptr", &ptr), ("size", &size)], around));
        };
        if let Some((start, mapping)) = self.mapping_in(range.start, range.end())
            && rules::FREE_2.is_on()
        {
            let facts: [(&str, &dyn peermap_driver::Argument); 2] =
                [("mapping", &DevicePtr::new(start)), ("size", &ByteSize::new(mapping.size))];
            return Err(rules::FREE_2.refuse(&facts, Some(mapping.site)));
        }
        self.space.remove(ptr.get());
        Ok(())
    }

    /// `cuMemMap`.
    ///
    /// # Errors
    /// MAP-1 to MAP-8, MAP-10, WAIT-1, HANDLE-1.
    pub fn mem_map(
        &mut self,
        outside: &mut Outside<'_>,
        ptr: DevicePtr,
        size: ByteSize,
        offset: ByteSize,
        handle: MemHandle,
        flags: u64,
    ) -> Result<()> {
        if flags != 0 && rules::MAP_1.is_on() {
            return Err(rules::MAP_1.refuse(&[("flags", &flags)], None));
        }
        if (ptr.is_null() || handle == MemHandle::NULL) && rules::MAP_2.is_on() {
            return Err(rules::MAP_2.refuse(&[("ptr", &ptr), ("handle", &handle)], None));
        }
        if size.is_zero() && rules::MAP_3.is_on() {
            return Err(rules::MAP_3.refuse(&[], None));
        }
        let record = self.handle_record(handle)?;
        let state =
            record.state.step(HandleEvent::Map).map_err(|rule| handle_error(rule, handle, Some(record.site)))?;
        let (allocated, backing, place, made) = (record.size, record.backing, record.place, record.site);
        let alloc = record.alloc;
        if !offset.is_zero() && rules::MAP_4.is_on() {
            return Err(rules::MAP_4.refuse(&[("offset", &offset)], Some(made)));
        }
        if let Place::Team { .. } = place {
            self.check_map_of_team(outside, alloc, ptr, (size, allocated))?;
        } else if size != allocated && rules::MAP_5.is_on() {
            return Err(rules::MAP_5.refuse(&[("size", &size), ("allocation", &allocated)], Some(made)));
        }
        let (end, reserved) = self.check_place(ptr, size)?;
        let mapping = Mapping {
            size: size.get(),
            handle: handle.as_raw(),
            backing,
            place,
            rights: RightsMap::default(),
            host_rights: Rights::None,
            site: self.site,
        };
        self.mappings.insert(ptr.get(), mapping);
        self.set_handle_state(handle, state);
        if end > reserved {
            self.note_overhang(ptr, reserved, end);
        }
        Ok(())
    }

    /// Whether a mapping may begin at an address; gives its end, and that of the reservation that it begins in.
    fn check_place(&self, ptr: DevicePtr, size: ByteSize) -> Result<(u64, u64)> {
        let granularity = self.granularity();
        let reservation = self.space.containing(ptr.get()).filter(|range| range.kind == RangeKind::Reservation);
        let ends = reservation.and_then(|range| Some((ptr.checked_add(size)?.get(), range.end())));
        let Some((end, reserved)) = ends else {
            return Err(rules::MAP_6.refuse(&[("ptr", &ptr), ("size", &size)], None));
        };
        if !ptr.is_multiple_of(granularity) && rules::MAP_7.is_on() {
            return Err(rules::MAP_7.refuse(&[("ptr", &ptr), ("granularity", &granularity)], None));
        }
        if let Some((start, other)) = self.mapping_in(ptr.get(), end)
            && rules::MAP_8.is_on()
        {
            let facts: [(&str, &dyn peermap_driver::Argument); 3] =
                [("ptr", &ptr), ("mapping", &DevicePtr::new(start)), ("size", &ByteSize::new(other.size))];
            return Err(rules::MAP_8.refuse(&facts, Some(other.site)));
        }
        if let Some(other) = self.space.legacy_in(ptr.get(), end)
            && rules::MAP_8.is_on()
        {
            let facts: [(&str, &dyn peermap_driver::Argument); 2] =
                [("ptr", &ptr), ("allocation", &DevicePtr::new(other.start))];
            return Err(rules::MAP_8.refuse(&facts, Some(other.site)));
        }
        Ok((end, reserved))
    }

    /// Notes a mapping whose end lies where nobody reserved. The first reservation that it begins in ends at `reserved`.
    fn note_overhang(&mut self, ptr: DevicePtr, mut reserved: u64, end: u64) {
        while reserved < end {
            match self.space.containing(reserved) {
                Some(range) if range.kind == RangeKind::Reservation => reserved = range.end(),
                _ => {
                    let over = ByteSize::new(end - reserved);
                    let made = self.space.containing(ptr.get()).map(|range| range.site);
                    self.note_misuse(&rules::MAP_9, &[("ptr", &ptr), ("over", &over)], made);
                    return;
                }
            }
        }
    }

    /// `cuMemUnmap`.
    ///
    /// # Errors
    /// UNMAP-1 to UNMAP-3. Also if the machine cannot be told that memory is no longer held.
    pub fn mem_unmap(&mut self, outside: &mut Outside<'_>, ptr: DevicePtr, size: ByteSize) -> Result<()> {
        if size.is_zero() && rules::UNMAP_1.is_on() {
            return Err(rules::UNMAP_1.refuse(&[("ptr", &ptr)], None));
        }
        let reservation = self.space.containing(ptr.get()).filter(|range| range.kind == RangeKind::Reservation);
        if reservation.is_none() && rules::UNMAP_2.is_on() {
            return Err(rules::UNMAP_2.refuse(&[("ptr", &ptr), ("size", &size)], None));
        }
        if self.is_one_mapping(ptr.get(), size) {
            return self.remove_mapping(outside, ptr.get()).map(|_| ());
        }
        let (start, end) = (ptr.get(), ptr.get().saturating_add(size.get()));
        let cut = self
            .mapping_at(ptr)
            .filter(|(first, _)| *first < start)
            .or_else(|| self.mapping_in(start, end).filter(|(first, mapping)| first + mapping.size > end));
        if let Some((first, mapping)) = cut
            && rules::UNMAP_3.is_on()
        {
            let facts: [(&str, &dyn peermap_driver::Argument); 4] = [
                ("ptr", &ptr),
                ("size", &size),
                ("mapping", &DevicePtr::new(first)),
                ("mapping_size", &ByteSize::new(mapping.size)),
            ];
            return Err(rules::UNMAP_3.refuse(&facts, Some(mapping.site)));
        }
        let reserved = reservation.map(|range| range.site);
        let (mut covered, mut hole) = (0, start);
        while let Some(first) = self.mappings.first_starting_in(start, end) {
            let removed = self.remove_mapping(outside, first)?;
            hole = if first == hole { first + removed } else { hole };
            covered += removed;
        }
        if covered < size.get() {
            let (mapped, hole) = (ByteSize::new(covered), DevicePtr::new(hole));
            let facts: [(&str, &dyn peermap_driver::Argument); 4] =
                [("ptr", &ptr), ("size", &size), ("mapped", &mapped), ("hole", &hole)];
            self.note_misuse(&rules::UNMAP_4, &facts, reserved);
        }
        Ok(())
    }

    /// Removes one mapping; gives its size.
    fn remove_mapping(&mut self, outside: &mut Outside<'_>, start: u64) -> Result<u64> {
        let mapping = self.mappings.remove(start).expect("the caller found the mapping");
        self.note_in_use(&rules::UNMAP_5, start, mapping.size, None);
        for ordinal in mapping.rights.granted() {
            outside.tables.clear(ordinal, start, ByteSize::new(mapping.size));
        }
        if mapping.host_rights != Rights::None {
            outside.tables.clear(HOST_TABLE, start, ByteSize::new(mapping.size));
        }
        self.remember_removal(start, start + mapping.size);
        self.step_handle(outside, mapping.handle, HandleEvent::Unmap)?;
        Ok(mapping.size)
    }

    /// Remembers that the call of now took a range away.
    pub(super) fn remember_removal(&mut self, start: u64, end: u64) {
        if self.removed.len() == REMEMBERED_REMOVALS {
            self.removed.pop_front();
        }
        self.removed.push_back(Removed { start, end, site: self.site });
    }

    /// `cuMemRetainAllocationHandle`: the raw value of the handle.
    ///
    /// # Errors
    /// RETAIN-1.
    pub fn mem_retain_allocation_handle(&mut self, outside: &mut Outside<'_>, addr: DevicePtr) -> Result<u64> {
        let Some((_, mapping)) = self.mapping_at(addr) else {
            return Err(rules::RETAIN_1.refuse(&[("addr", &addr)], None));
        };
        let handle = mapping.handle;
        if let Some(alloc) = self.step_handle(outside, handle, HandleEvent::Retain)? {
            self.tell_holding(outside, alloc, Holding::Handle)?;
        }
        Ok(handle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_kept_apart_by_device() {
        let mut map = RightsMap::default();
        map.set(0, Rights::Read);
        map.set(RightsMap::DEVICES - 1, Rights::ReadWrite);
        map.set(7, Rights::ReadWrite);
        map.set(7, Rights::None);
        assert_eq!(map.get(0), Rights::Read);
        assert_eq!(map.get(7), Rights::None);
        assert_eq!(map.get(RightsMap::DEVICES - 1), Rights::ReadWrite);
        assert_eq!(map.granted().collect::<Vec<_>>(), [0, RightsMap::DEVICES - 1]);
    }
}
