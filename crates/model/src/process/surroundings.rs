//! What memory lies at and around an address: for the explanation of a fault, and for those who ask how far a buffer goes.

use std::ops::Range;

use peermap_driver::{CallSite, DevicePtr, Value};

use super::Process;
use super::space::RangeKind;
use crate::wire::Rights;

/// Memory that has addresses in a process, whatever made it.
struct Piece {
    start: u64,
    size: u64,
    handle: Option<u64>,
    rights: Rights,
    site: CallSite,
}

impl Piece {
    const fn end(&self) -> u64 {
        self.start + self.size
    }

    /// In words for an explanation, with how far away it is.
    fn told(&self, distance: Option<u64>) -> Value {
        let rights = match self.rights {
            Rights::None => "none",
            Rights::Read => "read",
            Rights::ReadWrite => "read and write",
        };
        let mut fields = vec![("start", Value::Address(self.start)), ("size", Value::Bytes(self.size))];
        fields.extend(distance.map(|distance| ("distance", Value::Bytes(distance))));
        fields.extend(self.handle.map(|handle| ("handle", Value::Handle(handle))));
        fields.push(("rights", Value::Text(rights.to_owned())));
        fields.push(("made by", Value::Text(self.site.to_string())));
        Value::Fields(fields)
    }
}

impl Process {
    /// What is mapped at an address, and what before and behind it, as facts of an explanation. `ordinal` is the device
    /// whose rights count.
    pub(super) fn surroundings(&self, address: DevicePtr, ordinal: usize) -> Vec<(&'static str, Value)> {
        let address = address.get();
        let below = self.last_piece_from(address, ordinal);
        let above = self.first_piece_behind(address, ordinal).map(|piece| {
            let distance = piece.start - address;
            ("mapped behind", piece.told(Some(distance)))
        });
        let below = below.map(|piece| match address.checked_sub(piece.end()) {
            Some(distance) => ("mapped before", piece.told(Some(distance))),
            None => ("mapped there", piece.told(None)),
        });
        below.into_iter().chain(above).collect()
    }

    /// The addresses of the buffer that an address lies in: an allocation, or mappings side by side in one reservation.
    /// A reservation that was asked for right behind another one, and is there, continues it: so vectors grow.
    #[must_use]
    pub fn buffer_at(&self, address: DevicePtr) -> Option<Range<u64>> {
        if let Some((start, mapping)) = self.mapping_at(address) {
            return Some(self.mappings_side_by_side(start..start + mapping.size));
        }
        let of = |start: u64, size: u64| start..start + size;
        let opened = self.opened_at(address).map(|(start, opened)| of(start, opened.size.get()));
        let pooled = || self.pooled_at(address).map(|(start, it)| of(start, it.size.get()));
        let legacy = || self.legacy_at(address).map(|(start, it)| of(start, it.size.get()));
        opened.or_else(pooled).or_else(legacy)
    }

    fn mappings_side_by_side(&self, first: Range<u64>) -> Range<u64> {
        let mut buffer = first;
        while self.is_one_piece_around(buffer.end)
            && let Some((start, mapping)) = self.mappings.at(buffer.end)
        {
            buffer.end = start + mapping.size;
        }
        while self.is_one_piece_around(buffer.start)
            && let Some((start, _)) = self.mappings.at(buffer.start - 1)
        {
            buffer.start = start;
        }
        buffer
    }

    /// Whether addresses before and behind a place were reserved together, or one in continuation of the other.
    fn is_one_piece_around(&self, place: u64) -> bool {
        let reserved = |address| self.space.containing(address).filter(|it| it.kind == RangeKind::Reservation);
        let (Some(before), Some(behind)) = (reserved(place.wrapping_sub(1)), reserved(place)) else { return false };
        before.start == behind.start || behind.continues
    }

    /// The last memory that starts at an address or before it.
    fn last_piece_from(&self, address: u64, ordinal: usize) -> Option<Piece> {
        let here = self.mappings.at(address).or_else(|| self.mappings.last_in(0, address));
        let mapped = here.map(|(start, _)| start);
        let pooled = self.pools.starts(..=address).next_back();
        let legacy = self.legacy.range(..=address).next_back().map(|(start, _)| *start);
        let opened = self.opened.range(..=address).next_back().map(|(start, _)| *start);
        let nearest = [mapped, pooled, legacy, opened].into_iter().flatten().max()?;
        self.piece_at(nearest, ordinal)
    }

    /// The first memory that starts behind an address.
    fn first_piece_behind(&self, address: u64, ordinal: usize) -> Option<Piece> {
        let from = address.checked_add(1)?;
        let mapped = self.mappings.first_starting_in(from, u64::MAX);
        let pooled = self.pools.starts(from..).next();
        let legacy = self.legacy.range(from..).next().map(|(start, _)| *start);
        let opened = self.opened.range(from..).next().map(|(start, _)| *start);
        let nearest = [mapped, pooled, legacy, opened].into_iter().flatten().min()?;
        self.piece_at(nearest, ordinal)
    }

    /// The memory that an address lies in.
    fn piece_at(&self, address: u64, ordinal: usize) -> Option<Piece> {
        let ptr = DevicePtr::new(address);
        if let Some((start, mapping)) = self.mapping_at(ptr) {
            let (size, rights) = (mapping.size, mapping.rights.get(ordinal));
            return Some(Piece { start, size, handle: Some(mapping.handle), rights, site: mapping.site });
        }
        let whole = |reaches: bool| if reaches { Rights::ReadWrite } else { Rights::None };
        let made = |start, size, rights, site| Some(Piece { start, size, handle: None, rights, site });
        if let Some((start, opened)) = self.opened_at(ptr) {
            let rights = whole(self.ordinal_of_context(opened.context) == ordinal);
            return made(start, opened.size.get(), rights, opened.site);
        }
        if let Some((start, pooled)) = self.pooled_at(ptr) {
            return made(start, pooled.size.get(), self.pool_rights(pooled, ordinal), pooled.site);
        }
        let (start, legacy) = self.legacy_at(ptr)?;
        let rights = whole(self.ordinals_reaching(legacy.context).contains(&ordinal));
        made(start, legacy.size.get(), rights, legacy.site)
    }
}
