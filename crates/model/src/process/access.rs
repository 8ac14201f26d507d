//! Rights on mappings: `cuMemSetAccess`, `cuMemGetAccess`.

use peermap_driver::{AccessDesc, AccessFlags, Argument, ByteSize, DevicePtr, Location, LocationType, Result};

use super::{HOST_TABLE, Outside, Process};
use crate::rules;
use crate::wire::{Place, Rights};

/// Who gets rights.
#[derive(Clone, Copy)]
enum Grantee {
    Device(usize),
    Host,
}

impl Grantee {
    const fn table(self) -> usize {
        match self {
            Self::Device(ordinal) => ordinal,
            Self::Host => HOST_TABLE,
        }
    }
}

const fn rights_of(flags: AccessFlags) -> Option<Rights> {
    match flags {
        AccessFlags::NONE => Some(Rights::None),
        AccessFlags::READ => Some(Rights::Read),
        AccessFlags::READWRITE => Some(Rights::ReadWrite),
        _ => None,
    }
}

const fn flags_of(rights: Rights) -> AccessFlags {
    match rights {
        Rights::None => AccessFlags::NONE,
        Rights::Read => AccessFlags::READ,
        Rights::ReadWrite => AccessFlags::READWRITE,
    }
}

impl Process {
    /// `cuMemSetAccess`. All or nothing: a call that is refused changes no right.
    ///
    /// # Errors
    /// ACCESS-1 to ACCESS-6.
    pub fn mem_set_access(
        &mut self,
        outside: &mut Outside<'_>,
        ptr: DevicePtr,
        size: ByteSize,
        desc: &[AccessDesc],
    ) -> Result<()> {
        if (size.is_zero() || desc.is_empty()) && rules::ACCESS_1.is_on() {
            return Err(rules::ACCESS_1.refuse(&[("size", &size), ("desc", &desc)], None));
        }
        let grants = self.check_grants(desc)?;
        let (start, end) = (ptr.get(), ptr.get().saturating_add(size.get()));
        if !self.is_one_mapping(start, size) {
            self.check_whole_mappings(ptr, size, start, end)?;
        }
        self.check_host_grants(start, end, &grants, desc)?;
        self.check_team_grants(outside, start, end, &grants)?;
        self.note_taken_rights(start, end, &grants);
        let mut reached = start;
        while reached < end
            && let Some(mapping) = self.mappings.starting_at_mut(reached)
        {
            for (grantee, rights) in &grants {
                match grantee {
                    Grantee::Host => mapping.host_rights = *rights,
                    Grantee::Device(ordinal) => mapping.rights.set(*ordinal, *rights),
                }
                outside.tables.set(grantee.table(), reached, ByteSize::new(mapping.size), mapping.backing, *rights);
            }
            reached += mapping.size;
        }
        if reached < end {
            let hole = DevicePtr::new(reached);
            self.note_misuse(&rules::ACCESS_7, &[("ptr", &ptr), ("size", &size), ("hole", &hole)], None);
        }
        Ok(())
    }

    /// Notes the work that needs rights which go.
    fn note_taken_rights(&mut self, start: u64, end: u64, grants: &[(Grantee, Rights)]) {
        if !self.has_work_in_flight() {
            return;
        }
        let mapped =
            self.mappings.starting_in(start, end).map(|(first, mapping)| (first, mapping.size, mapping.rights));
        for (first, size, rights) in mapped.collect::<Vec<_>>() {
            for (grantee, granted) in grants {
                if let Grantee::Device(ordinal) = grantee
                    && *granted < rights.get(*ordinal)
                {
                    self.note_in_use(&rules::ACCESS_8, first, size, Some(*ordinal));
                }
            }
        }
    }

    /// Whether every device that is named may reach every team that is mapped in a range.
    fn check_team_grants(
        &self,
        outside: &mut Outside<'_>,
        start: u64,
        end: u64,
        grants: &[(Grantee, Rights)],
    ) -> Result<()> {
        if !self.knows_teams {
            return Ok(());
        }
        let ordinals = || {
            grants.iter().filter_map(|(grantee, rights)| match grantee {
                Grantee::Device(ordinal) if *rights != Rights::None => Some(*ordinal),
                Grantee::Device(_) | Grantee::Host => None,
            })
        };
        let mapped = self.mappings.starting_in(start, end);
        for (_, mapping) in mapped.filter(|(_, mapping)| matches!(mapping.place, Place::Team { .. })) {
            let team = self.handles.get(&mapping.handle).expect("a mapping keeps its handle").alloc;
            self.check_access_to_team(outside, team, ordinals())?;
        }
        Ok(())
    }

    /// Who is named, with which rights.
    fn check_grants(&self, desc: &[AccessDesc]) -> Result<Vec<(Grantee, Rights)>> {
        let mut grants = Vec::with_capacity(desc.len());
        for one in desc {
            let grantee = match one.location.kind {
                LocationType::DEVICE => self
                    .device_of(one.location.id)
                    .and_then(|_| usize::try_from(one.location.id).ok())
                    .map(Grantee::Device),
                LocationType::HOST | LocationType::HOST_NUMA => Some(Grantee::Host),
                _ => None,
            };
            let Some(grantee) = grantee else {
                return Err(rules::ACCESS_2.refuse(&[("location", &one.location)], None));
            };
            let Some(rights) = rights_of(one.flags) else {
                return Err(rules::ACCESS_3.refuse(&[("flags", &one.flags)], None));
            };
            grants.push((grantee, rights));
        }
        Ok(grants)
    }

    /// Whether a range starts and ends in mappings and cuts none.
    fn check_whole_mappings(&self, ptr: DevicePtr, size: ByteSize, start: u64, end: u64) -> Result<()> {
        let first = self.mapping_at(ptr);
        let last = self.mapping_at(DevicePtr::new(end - 1));
        let (Some((first_start, first)), Some((last_start, last))) = (first, last) else {
            return Err(rules::ACCESS_4.refuse(&[("ptr", &ptr), ("size", &size)], None));
        };
        let cut = if first_start != start {
            Some((first_start, first))
        } else {
            (last_start + last.size != end).then_some((last_start, last))
        };
        match cut {
            Some((mapping_start, mapping)) => {
                let facts: [(&str, &dyn Argument); 4] = [
                    ("ptr", &ptr),
                    ("size", &size),
                    ("mapping", &DevicePtr::new(mapping_start)),
                    ("mapping_size", &ByteSize::new(mapping.size)),
                ];
                Err(rules::ACCESS_5.refuse(&facts, Some(mapping.site)))
            }
            None => Ok(()),
        }
    }

    /// The host may be named for memory of the host only.
    fn check_host_grants(&self, start: u64, end: u64, grants: &[(Grantee, Rights)], desc: &[AccessDesc]) -> Result<()> {
        if !grants.iter().any(|(grantee, _)| matches!(grantee, Grantee::Host)) {
            return Ok(());
        }
        let on_device =
            self.mappings.starting_in(start, end).find(|(_, mapping)| !matches!(mapping.place, Place::HostNuma(_)));
        match on_device {
            Some((_, mapping)) => Err(rules::ACCESS_6.refuse(&[("desc", &desc)], Some(mapping.site))),
            None => Ok(()),
        }
    }

    /// `cuMemGetAccess`.
    ///
    /// # Errors
    /// GETACCESS-2, GETACCESS-1, in this order.
    pub fn mem_get_access(&mut self, ptr: DevicePtr, location: Location) -> Result<AccessFlags> {
        let names_device = matches!(location.kind, LocationType::DEVICE | LocationType::HOST);
        let ordinal = self.device_of(location.id).and_then(|_| usize::try_from(location.id).ok());
        let known = (names_device && ordinal.is_some()) || location.kind == LocationType::HOST_NUMA;
        if !known && rules::GETACCESS_2.is_on() {
            return Err(rules::GETACCESS_2.refuse(&[("location", &location)], None));
        }
        let mapped = self.mapping_at(ptr).map(|(_, mapping)| (mapping.rights, mapping.host_rights, mapping.place));
        if mapped.is_none()
            && self.legacy_at(ptr).is_none()
            && self.opened_at(ptr).is_none()
            && self.pooled_at(ptr).is_none()
            && rules::GETACCESS_1.is_on()
        {
            return Err(rules::GETACCESS_1.refuse(&[("ptr", &ptr)], None));
        }
        let Some((rights, host_rights, place)) = mapped else { return Ok(AccessFlags::NONE) };
        let on_host = matches!(place, Place::HostNuma(_));
        Ok(flags_of(match (location.kind, ordinal) {
            (LocationType::HOST | LocationType::HOST_NUMA, _) if on_host => host_rights,
            (LocationType::HOST, Some(ordinal)) => {
                self.note_misuse(&rules::GETACCESS_3, &[("location", &location)], None);
                rights.get(ordinal)
            }
            (LocationType::DEVICE, Some(ordinal)) => rights.get(ordinal),
            _ => Rights::None,
        }))
    }
}
