//! Multicast objects: teams of devices, and the memory that each of them has bound.
//!
//! A team is an allocation that lies on the switches ([`Place::Team`]): it is held, exported and imported as memory is. Its
//! granules are those of one more arena, [`TEAM_ARENA`](crate::wire::TEAM_ARENA), which has no bytes. Which granules of memory each of them stands for
//! changes with every bind; whoever keeps the bytes learns of it as a [`Wiring`].

use std::collections::BTreeMap;

use peermap_driver::{ByteSize, CallSite, HandleType};

use super::{ARENA_ROOM, Machine, MachineError};
use crate::profile::Profile;
use crate::wire::{AllocId, Answer, Backing, Incomplete, Place, ProcessId, TeamRefusal};

/// What a granule of a team stands for on one device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wired {
    /// The device is not of the team.
    Nothing,
    /// The device is of the team and has no memory bound there.
    Unbound,
    /// Memory, from this granule on.
    Memory(Backing),
}

/// What granules of a team stand for on one device from now on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wiring {
    /// The first of the team's granules.
    pub first_granule: u64,
    /// How many bytes.
    pub size: ByteSize,
    /// The device, by its number in the machine.
    pub device: u16,
    /// What they stand for.
    pub wired: Wired,
}

/// Memory that a device of a team has bound.
struct Bound {
    alloc: AllocId,
    size: ByteSize,
    site: CallSite,
}

/// A device of a team.
struct Member {
    /// Who added it.
    process: ProcessId,
    site: CallSite,
    /// By the offset in the team.
    bound: BTreeMap<u64, Bound>,
}

/// What a multicast object is besides an allocation.
#[derive(Default)]
pub(super) struct Team {
    members: BTreeMap<u16, Member>,
}

/// How many bytes all teams of a machine have together at most: as many as the largest device has room for.
#[must_use]
pub fn team_bytes(profile: &Profile) -> ByteSize {
    let granularity = profile.granularity.get();
    let largest = profile.devices.iter().map(|device| device.total.get()).max().unwrap_or(0);
    ByteSize::new(largest / granularity * granularity * ARENA_ROOM)
}

impl Machine {
    /// The granule of a team that lies at an offset.
    fn granule_in(&self, team: AllocId, offset: u64) -> u64 {
        let first = self.allocations.get(&team).map_or(0, |team| team.record.backing.first_granule);
        first + offset / self.profile.granularity.get()
    }

    /// How many devices a team has when it is complete, if it is one that the process holds.
    fn devices_of(&mut self, process: ProcessId, team: AllocId) -> Result<u32, MachineError> {
        match self.held_by(process, team)?.record.place {
            Place::Team { devices } => Ok(devices),
            Place::Device(_) | Place::HostNuma(_) => Err(MachineError::NoTeam { process, alloc: team }),
        }
    }

    pub(super) fn add_to_team(
        &mut self,
        process: ProcessId,
        team: AllocId,
        device: u16,
        site: CallSite,
    ) -> Result<Answer, MachineError> {
        let devices = self.devices_of(process, team)?;
        let state = self.teams.entry(team).or_default();
        if let Some(member) = state.members.get(&device) {
            return Ok(Answer::Team(TeamRefusal::Added { site: member.site }));
        }
        if state.members.len() as u64 >= u64::from(devices) {
            let site = state.members.values().next_back().map(|member| member.site);
            return Ok(Answer::Team(TeamRefusal::Full { site }));
        }
        if let Some((other, member)) = state.members.iter().find(|(other, _)| !self.profile.connected(device, **other))
        {
            return Ok(Answer::Team(TeamRefusal::Apart { other: *other, site: member.site }));
        }
        state.members.insert(device, Member { process, site, bound: BTreeMap::new() });
        self.wire_whole(team, device, Wired::Unbound);
        Ok(Answer::Done)
    }

    fn wire_whole(&mut self, team: AllocId, device: u16, wired: Wired) {
        if let Some(allocation) = self.allocations.get(&team) {
            let (first_granule, size) = (allocation.record.backing.first_granule, allocation.record.size);
            self.wirings.push(Wiring { first_granule, size, device, wired });
        }
    }

    /// The devices of a team if there are as many as it was made for.
    pub(super) fn whole_team(&mut self, process: ProcessId, team: AllocId) -> Result<Answer, MachineError> {
        let wanted = self.devices_of(process, team)?;
        let state = self.teams.entry(team).or_default();
        if state.members.len() as u64 == u64::from(wanted) {
            return Ok(Answer::TeamDevices(state.members.keys().copied().collect()));
        }
        let added: Vec<(u16, CallSite)> = state.members.iter().map(|(device, it)| (*device, it.site)).collect();
        let adders: Vec<ProcessId> = state.members.values().map(|member| member.process).collect();
        let holders = self.allocations.get(&team).into_iter().flat_map(|team| team.holders.keys().copied());
        let idle = holders.filter(|holder| !adders.contains(holder)).collect();
        Ok(Answer::TeamIncomplete(Incomplete { wanted, added, idle }))
    }

    /// Binds memory. The process half has looked at sizes and offsets.
    pub(super) fn bind(
        &mut self,
        process: ProcessId,
        (team, offset): (AllocId, u64),
        (alloc, from): (AllocId, u64),
        size: ByteSize,
        site: CallSite,
    ) -> Result<Answer, MachineError> {
        self.devices_of(process, team)?;
        let shareable = self.held_by(process, team)?.record.prop.requested_handle_types != HandleType::NONE;
        let memory = self.held_by(process, alloc)?.record;
        let refused = |refusal| Ok(Answer::Team(refusal));
        let state = self.teams.entry(team).or_default();
        let member = match memory.place {
            Place::Device(device) => state.members.get_mut(&device).map(|member| (device, member)),
            Place::HostNuma(_) | Place::Team { .. } => None,
        };
        let Some((device, member)) = member else { return refused(TeamRefusal::Elsewhere { site: memory.site }) };
        if shareable && memory.prop.requested_handle_types == HandleType::NONE {
            return refused(TeamRefusal::Unshareable { site: memory.site });
        }
        let before = member.bound.range(..offset + size.get()).next_back();
        if let Some((_, other)) = before.filter(|(start, other)| **start + other.size.get() > offset) {
            return refused(TeamRefusal::Bound { site: other.site });
        }
        member.bound.insert(offset, Bound { alloc, size, site });
        let granule = self.profile.granularity.get();
        let backing = Backing { first_granule: memory.backing.first_granule + from / granule, ..memory.backing };
        let first_granule = self.granule_in(team, offset);
        self.wirings.push(Wiring { first_granule, size, device, wired: Wired::Memory(backing) });
        self.held_by(process, alloc)?.bound.push((team, site));
        Ok(Answer::Done)
    }

    /// Takes back a bind: exactly one.
    pub(super) fn unbind(
        &mut self,
        process: ProcessId,
        (team, offset): (AllocId, u64),
        device: u16,
        size: ByteSize,
    ) -> Result<Answer, MachineError> {
        self.devices_of(process, team)?;
        let Some(member) = self.teams.entry(team).or_default().members.get_mut(&device) else {
            return Ok(Answer::Team(TeamRefusal::NoMember));
        };
        let Some(bound) = member.bound.get(&offset).filter(|bound| bound.size == size) else {
            return Ok(Answer::Team(TeamRefusal::NotBound));
        };
        let (alloc, site) = (bound.alloc, bound.site);
        member.bound.remove(&offset);
        let first_granule = self.granule_in(team, offset);
        self.wirings.push(Wiring { first_granule, size, device, wired: Wired::Unbound });
        self.keep_bound_no_longer(alloc, (team, site));
        Ok(Answer::Done)
    }

    /// A team that nobody holds any more has gone.
    pub(super) fn end_team(&mut self, team: AllocId, first_granule: u64, size: ByteSize) {
        let members = self.teams.remove(&team).unwrap_or_default().members;
        for (device, member) in members {
            self.wirings.push(Wiring { first_granule, size, device, wired: Wired::Nothing });
            member.bound.into_values().for_each(|bound| self.keep_bound_no_longer(bound.alloc, (team, bound.site)));
        }
    }

    fn keep_bound_no_longer(&mut self, alloc: AllocId, bind: (AllocId, CallSite)) {
        if let Some(allocation) = self.allocations.get_mut(&alloc) {
            allocation.bound.retain(|other| *other != bind);
        }
        self.free_if_unheld(alloc);
    }

    /// What granules of teams stand for since the last time. Whoever keeps the bytes must know before the next question is
    /// answered.
    #[must_use]
    pub fn take_wirings(&mut self) -> Vec<Wiring> {
        std::mem::take(&mut self.wirings)
    }
}
