//! Multicast objects: `cuMulticastCreate` and what follows it.
//!
//! A call that waits for the whole team ends as [`DriverError::WouldHang`] each time that the team is not complete, and changes
//! nothing: whoever has a clock makes it again for as long as it likes.

use peermap_driver::{
    AllocationProp, Argument, ByteSize, CallSite, Device, DeviceAttribute, DevicePtr, DriverError, GranularityOption,
    HandleType, Location, LocationType, MemHandle, MulticastObjectProp, Result, Value,
};

use super::fabric::Refusals;
use super::physical::{HandleRecord, unexpected};
use super::{Outside, Process};
use crate::rule::Rule;
use crate::rules;
use crate::wire::{AllocId, Answer, Ask, Holding, Incomplete, Place, TeamRefusal};

/// What is to be bound, and where.
#[derive(Clone, Copy)]
struct Bind {
    team: AllocId,
    offset: ByteSize,
    alloc: AllocId,
    from: ByteSize,
    size: ByteSize,
}

/// A refusal without further facts than one.
fn refuse<T>(rule: &'static Rule, name: &'static str, value: &dyn Argument, earlier: Option<CallSite>) -> Result<T> {
    Err(rule.refuse(&[(name, value)], earlier))
}

fn not_modelled<T>(what: String) -> Result<T> {
    Err(DriverError::NotModelled { what })
}

impl Process {
    /// `cuMulticastGetGranularity`.
    ///
    /// # Errors
    /// MULTICAST-1, MULTICAST-2, MULTICAST-18.
    pub fn multicast_get_granularity(&self, prop: &MulticastObjectProp, option: GranularityOption) -> Result<ByteSize> {
        self.check_team(prop)?;
        let granularity = self.profile.multicast_granularity;
        match option {
            GranularityOption::MINIMUM => Ok(granularity.minimum),
            GranularityOption::RECOMMENDED => Ok(granularity.recommended),
            _ => refuse(&rules::MULTICAST_18, "option", &option, None),
        }
    }

    /// `cuMulticastCreate`: the raw value of the handle.
    ///
    /// # Errors
    /// MULTICAST-1 to MULTICAST-6, MULTICAST-19.
    pub fn multicast_create(&mut self, outside: &mut Outside<'_>, prop: &MulticastObjectProp) -> Result<u64> {
        self.check_team(prop)?;
        let (size, types) = (prop.size, prop.handle_types);
        let granularity = self.profile.multicast_granularity.minimum;
        if (size.is_zero() || !size.is_multiple_of(granularity)) && rules::MULTICAST_3.is_on() {
            return Err(rules::MULTICAST_3.refuse(&[("size", &size), ("granularity", &granularity)], None));
        }
        if types.0 & (HandleType::WIN32.0 | HandleType::WIN32_KMT.0) != 0 && rules::MULTICAST_4.is_on() {
            return refuse(&rules::MULTICAST_4, "handle_types", &types, None);
        }
        let place = Place::Team { devices: prop.num_devices };
        let refusals = Refusals { no_channel: &rules::MULTICAST_5, not_supported: &rules::MULTICAST_19 };
        self.check_fabric(place, types, &refusals, ("handle_types", &types), None)?;
        let location = Location { kind: LocationType::INVALID, id: 0 };
        let prop = AllocationProp { location, ..AllocationProp::pinned_on(0, types) };
        let ask = Ask::Create { place, prop, size, holding: Holding::Handle, site: self.site };
        match outside.machine.ask(ask)? {
            Answer::Allocation(record) => Ok(self.new_handle(&record, record.prop)),
            Answer::OutOfMemory { free } => Err(rules::MULTICAST_6.refuse(&[("size", &size), ("free", &free)], None)),
            other => Err(unexpected(&other)),
        }
    }

    /// Whether there can be such a team here.
    fn check_team(&self, prop: &MulticastObjectProp) -> Result<()> {
        if !self.visible.iter().any(|device| self.profile.gives(*device, DeviceAttribute::MULTICAST_SUPPORTED))
            && rules::MULTICAST_1.is_on()
        {
            return Err(rules::MULTICAST_1.refuse(&[], None));
        }
        if (prop.flags != 0 || prop.num_devices == 0) && rules::MULTICAST_2.is_on() {
            return Err(rules::MULTICAST_2.refuse(&[("flags", &prop.flags), ("num_devices", &prop.num_devices)], None));
        }
        Ok(())
    }

    /// The record of a handle of a team. One that is gone crashes the process, as everywhere.
    fn team(&self, handle: MemHandle) -> Result<HandleRecord> {
        if handle == MemHandle::NULL {
            return refuse(&rules::MULTICAST_7, "mc_handle", &handle, None);
        }
        let record = self.usable(handle)?;
        match record.place {
            Place::Team { .. } => Ok(record),
            Place::Device(_) | Place::HostNuma(_) => {
                refuse(&rules::MULTICAST_7, "mc_handle", &handle, Some(record.site))
            }
        }
    }

    /// `cuMulticastAddDevice`.
    ///
    /// # Errors
    /// MULTICAST-7, MULTICAST-8, MULTICAST-1, MULTICAST-9, MULTICAST-10.
    pub fn multicast_add_device(&mut self, outside: &mut Outside<'_>, handle: MemHandle, device: Device) -> Result<()> {
        let team = self.team(handle)?;
        let Some(number) = self.device_of(device.0) else {
            return refuse(&rules::MULTICAST_8, "device", &device, None);
        };
        if !self.profile.gives(number, DeviceAttribute::MULTICAST_SUPPORTED) && rules::MULTICAST_1.is_on() {
            return refuse(&rules::MULTICAST_1, "device", &device, None);
        }
        match outside.machine.ask(Ask::AddToTeam { team: team.alloc, device: number, site: self.site })? {
            Answer::Done => Ok(()),
            Answer::Team(TeamRefusal::Added { site }) => refuse(&rules::MULTICAST_9, "device", &device, Some(site)),
            Answer::Team(TeamRefusal::Full { site }) => refuse(&rules::MULTICAST_9, "device", &device, site),
            Answer::Team(TeamRefusal::Apart { other, site }) => {
                let facts: [(&str, &dyn Argument); 2] = [("device", &device), ("other", &u32::from(other))];
                Err(rules::MULTICAST_10.refuse(&facts, Some(site)))
            }
            other => Err(unexpected(&other)),
        }
    }

    /// `cuMulticastBindMem`.
    ///
    /// # Errors
    /// MULTICAST-7, MULTICAST-12 to MULTICAST-17, WAIT-1.
    pub fn multicast_bind_mem(
        &mut self,
        outside: &mut Outside<'_>,
        (handle, offset): (MemHandle, ByteSize),
        (memory, from): (MemHandle, ByteSize),
        size: ByteSize,
        flags: u64,
    ) -> Result<()> {
        let team = self.team(handle)?;
        if memory == MemHandle::NULL {
            return refuse(&rules::MULTICAST_12, "mem_handle", &memory, None);
        }
        let bound = self.usable(memory)?;
        if matches!(bound.place, Place::Team { .. }) {
            return refuse(&rules::MULTICAST_12, "mem_handle", &memory, Some(bound.site));
        }
        self.check_pieces(flags, size, &[("mc_offset", offset.get()), ("mem_offset", from.get())])?;
        self.check_end_of(&team, offset, size)?;
        self.check_end_of(&bound, from, size)?;
        self.bind(outside, Bind { team: team.alloc, offset, alloc: bound.alloc, from, size })
    }

    /// `cuMulticastBindAddr`.
    ///
    /// # Errors
    /// MULTICAST-7, MULTICAST-12 to MULTICAST-17, WAIT-1.
    pub fn multicast_bind_addr(
        &mut self,
        outside: &mut Outside<'_>,
        (handle, offset): (MemHandle, ByteSize),
        ptr: DevicePtr,
        size: ByteSize,
        flags: u64,
    ) -> Result<()> {
        let team = self.team(handle)?;
        if let Some((_, pooled)) = self.pooled_at(ptr) {
            return not_modelled(format!(
                "a bind of memory from a pool, made by {}, to a multicast object",
                pooled.site
            ));
        }
        let mapped = self.mapping_at(ptr).filter(|(_, mapping)| !matches!(mapping.place, Place::Team { .. }));
        let Some((start, mapping)) = mapped else {
            return refuse(&rules::MULTICAST_12, "memptr", &ptr, self.history_of(ptr));
        };
        let from = ByteSize::new(ptr.get() - start);
        let bound = *self.handles.get(&mapping.handle).expect("a mapping keeps its handle");
        self.check_pieces(flags, size, &[("mc_offset", offset.get()), ("memptr", ptr.get())])?;
        self.check_end_of(&team, offset, size)?;
        self.check_end_of(&bound, from, size)?;
        self.bind(outside, Bind { team: team.alloc, offset, alloc: bound.alloc, from, size })
    }

    /// Whether size and places are whole pieces of teams.
    fn check_pieces(&self, flags: u64, size: ByteSize, places: &[(&'static str, u64)]) -> Result<()> {
        if flags != 0 && rules::MULTICAST_13.is_on() {
            return refuse(&rules::MULTICAST_13, "flags", &flags, None);
        }
        let granularity = self.profile.multicast_granularity.minimum;
        let is_whole = |place: u64| place.is_multiple_of(granularity.get());
        let cut = places.iter().find(|(_, place)| !is_whole(*place));
        let (name, value) = match cut {
            Some((name, place)) => (*name, *place),
            None if size.is_zero() || !is_whole(size.get()) => ("size", size.get()),
            None => return Ok(()),
        };
        if !rules::MULTICAST_14.is_on() {
            return Ok(());
        }
        Err(rules::MULTICAST_14.refuse(&[(name, &ByteSize::new(value)), ("granularity", &granularity)], None))
    }

    /// Whether a range ends where a team or memory does, or before.
    fn check_end_of(&self, whole: &HandleRecord, offset: ByteSize, size: ByteSize) -> Result<()> {
        let fits = offset.checked_add(size).is_some_and(|end| end <= whole.size);
        if fits || !rules::MULTICAST_15.is_on() {
            return Ok(());
        }
        let facts: [(&str, &dyn Argument); 3] = [("offset", &offset), ("size", &size), ("of", &whole.size)];
        Err(rules::MULTICAST_15.refuse(&facts, Some(whole.site)))
    }

    fn bind(&mut self, outside: &mut Outside<'_>, bind: Bind) -> Result<()> {
        self.whole_team(outside, bind.team)?;
        let Bind { team, offset, alloc, from, size } = bind;
        let ask = Ask::Bind { team, offset: offset.get(), alloc, from: from.get(), size, site: self.site };
        match outside.machine.ask(ask)? {
            Answer::Done => Ok(()),
            Answer::Team(TeamRefusal::Elsewhere { site }) => {
                refuse(&rules::MULTICAST_16, "mc_offset", &offset, Some(site))
            }
            Answer::Team(TeamRefusal::Unshareable { site }) => {
                refuse(&rules::MULTICAST_17, "mc_offset", &offset, Some(site))
            }
            Answer::Team(TeamRefusal::Bound { site }) => not_modelled(format!(
                "a bind at offset {offset} of a team where memory of the device is bound by {site}"
            )),
            other => Err(unexpected(&other)),
        }
    }

    /// The devices of a team, once it is complete.
    ///
    /// # Errors
    /// WAIT-1 as [`DriverError::WouldHang`].
    pub(super) fn whole_team(&self, outside: &mut Outside<'_>, team: AllocId) -> Result<Vec<u16>> {
        match outside.machine.ask(Ask::WholeTeam { team })? {
            Answer::TeamDevices(devices) => Ok(devices),
            Answer::TeamIncomplete(incomplete) if rules::WAIT_1.is_on() => {
                Err(DriverError::WouldHang { explanation: Box::new(self.missing(&incomplete)) })
            }
            Answer::TeamIncomplete(incomplete) => Ok(incomplete.added.iter().map(|(device, _)| *device).collect()),
            other => Err(unexpected(&other)),
        }
    }

    /// Who is missing in a team.
    fn missing(&self, incomplete: &Incomplete) -> peermap_driver::Explanation {
        let Incomplete { wanted, added, idle } = incomplete;
        let list = |values: Vec<String>| Value::List(values.into_iter().map(Value::Text).collect());
        let has = |device: &u16| added.iter().any(|(other, _)| other == device);
        let might =
            |device: &u16| !has(device) && added.iter().all(|(other, _)| self.profile.connected(*device, *other));
        let devices = u16::try_from(self.profile.devices.len()).unwrap_or(u16::MAX);
        let told = added.iter().map(|(device, site)| format!("device {device} by process {}", site.process));
        let mut explanation = rules::WAIT_1.explain(&[("devices", wanted)], added.last().map(|(_, site)| *site));
        let missing = u64::from(*wanted).saturating_sub(added.len() as u64);
        explanation.facts.extend([
            ("added", list(told.collect())),
            ("missing", Value::Number(missing.into())),
            ("of devices", list((0..devices).filter(might).map(|device| device.to_string()).collect())),
            ("without a device", list(idle.iter().map(|process| format!("process {}", process.0)).collect())),
        ]);
        explanation
    }

    /// `cuMulticastUnbind`.
    ///
    /// # Errors
    /// MULTICAST-7, MULTICAST-8, MULTICAST-14, MULTICAST-15. Offset and size of no bind are not modelled: the manual calls what
    /// happens undefined.
    pub fn multicast_unbind(
        &mut self,
        outside: &mut Outside<'_>,
        (handle, offset): (MemHandle, ByteSize),
        device: Device,
        size: ByteSize,
    ) -> Result<()> {
        let team = self.team(handle)?;
        let Some(number) = self.device_of(device.0) else {
            return refuse(&rules::MULTICAST_8, "device", &device, None);
        };
        self.check_pieces(0, size, &[("mc_offset", offset.get())])?;
        self.check_end_of(&team, offset, size)?;
        let ask = Ask::Unbind { team: team.alloc, offset: offset.get(), device: number, size };
        match outside.machine.ask(ask)? {
            Answer::Done => Ok(()),
            Answer::Team(TeamRefusal::NoMember) => refuse(&rules::MULTICAST_8, "device", &device, None),
            Answer::Team(TeamRefusal::NotBound) => {
                not_modelled(format!("an unbind of {size} at offset {offset} of {device}, where nothing was bound so"))
            }
            other => Err(unexpected(&other)),
        }
    }

    /// Whether a team may be mapped at an address: it is complete, and address and size are whole pieces of it.
    pub(super) fn check_map_of_team(
        &self,
        outside: &mut Outside<'_>,
        team: AllocId,
        ptr: DevicePtr,
        (size, whole): (ByteSize, ByteSize),
    ) -> Result<()> {
        let granularity = self.profile.multicast_granularity.minimum;
        let is_whole = ptr.is_multiple_of(granularity) && size.is_multiple_of(granularity);
        if !is_whole && rules::MAP_10.is_on() {
            let facts: [(&str, &dyn Argument); 3] = [("ptr", &ptr), ("size", &size), ("granularity", &granularity)];
            return Err(rules::MAP_10.refuse(&facts, None));
        }
        if size != whole {
            return not_modelled(format!("a mapping of {size} of a multicast object of {whole}"));
        }
        self.whole_team(outside, team).map(drop)
    }

    /// Whether devices may get rights on a mapping of a team: those of the team.
    pub(super) fn check_access_to_team(
        &self,
        outside: &mut Outside<'_>,
        team: AllocId,
        mut ordinals: impl Iterator<Item = usize>,
    ) -> Result<()> {
        let devices = self.whole_team(outside, team)?;
        match ordinals.find(|ordinal| self.visible.get(*ordinal).is_none_or(|device| !devices.contains(device))) {
            Some(other) => not_modelled(format!("access to a multicast object for device {other}, not of its team")),
            None => Ok(()),
        }
    }
}
