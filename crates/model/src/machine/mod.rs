//! The machine: the half of the driver that all processes share.
//!
//! It owns the physical allocations and knows who holds each: processes (with handles, mappings or as `cuMemAlloc`
//! memory) and descriptors. An allocation goes when the last holder does; the bytes that it had are handed back as a
//! [`Discard`], so that fresh memory reads as zero.

mod arena;
mod driver_memory;
mod event;
mod fabric;
mod holders;
mod ledger;
mod legacy;
mod pool;
mod team;
mod win32;

use std::collections::{BTreeMap, BTreeSet};

use peermap_driver::{AllocationProp, ByteSize, CallSite, CompressionType, DeviceAttribute, Win32Handle};

pub use holders::{DescriptorLine, HolderLine, HolderList};
pub use ledger::{Leak, Ledger, Report};
pub use team::{Wired, Wiring, team_bytes};

use crate::chooser::{Chooser, Policy};
use crate::profile::Profile;
use crate::wire::{
    AllocId, AllocationRecord, Answer, Ask, Backing, ExportId, Holding, Place, PoolId, ProcessId, TEAM_ARENA,
};
use arena::Arena;
use event::SharedEvents;
use fabric::FabricExport;
use legacy::LegacyExport;
use pool::SharedPool;
use team::Team;

/// How much larger an arena is than the memory of its device: room, so that free memory is never too scattered to be
/// used in one piece, as it is not on hardware, where allocations need no contiguous memory.
const ARENA_ROOM: u64 = 4;

/// The size of fabric handles, legacy handles and event handles.
const NAME_BYTES: usize = 64;

/// Bytes of a host NUMA node that simulated processes may allocate.
pub(crate) const HOST_NODE_BYTES: u64 = 64 << 30;

/// Bytes that an allocation left behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Discard {
    /// Where they are.
    pub backing: Backing,
    /// How many.
    pub size: ByteSize,
}

/// What a caller of the machine did wrong. The machine is not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// The process is not known, or has gone.
    #[error("process {0:?} is not known")]
    Process(ProcessId),
    /// The process does not hold the allocation that it speaks of.
    #[error("process {process:?} does not hold {alloc:?}")]
    NotHeld {
        /// Who.
        process: ProcessId,
        /// What.
        alloc: AllocId,
    },
    /// The process does not have the pool that it speaks of.
    #[error("process {process:?} does not have {pool:?}")]
    NoPool {
        /// Who.
        process: ProcessId,
        /// What.
        pool: PoolId,
    },
    /// The process speaks of a team that is none.
    #[error("{alloc:?} of process {process:?} is no team")]
    NoTeam {
        /// Who.
        process: ProcessId,
        /// What.
        alloc: AllocId,
    },
    /// There is no such place.
    #[error("there is no {0:?}")]
    Place(Place),
    /// An allocation is no multiple of the granularity, or nothing.
    #[error("an allocation cannot have {0}")]
    Size(ByteSize),
    /// The arena has no contiguous room left although the device has memory.
    #[error("no contiguous room for {size} in the arena of {place:?}")]
    Scattered {
        /// Where.
        place: Place,
        /// How much.
        size: ByteSize,
    },
}

struct Allocation {
    record: AllocationRecord,
    holders: BTreeMap<ProcessId, Holding>,
    exports: BTreeMap<ExportId, CallSite>,
    /// The pools that keep it for importers.
    pools: BTreeSet<PoolId>,
    /// The teams that it is bound to, and by which calls.
    bound: Vec<(AllocId, CallSite)>,
}

/// What a descriptor is of.
#[derive(Clone, Copy)]
enum Exported {
    Allocation(AllocId),
    Pool(PoolId),
}

/// The shared half of the simulated driver.
pub struct Machine {
    profile: Profile,
    chooser: Chooser,
    arenas: Vec<Arena>,
    /// The granules of teams.
    switches: Arena,
    teams: BTreeMap<AllocId, Team>,
    wirings: Vec<Wiring>,
    allocations: BTreeMap<AllocId, Allocation>,
    exported_from: BTreeMap<ExportId, Exported>,
    fabric: BTreeMap<Vec<u8>, FabricExport>,
    /// The NT handles, each in the table of a process.
    win32: BTreeMap<(ProcessId, Win32Handle), AllocId>,
    legacy: BTreeMap<Vec<u8>, LegacyExport>,
    pools: BTreeMap<PoolId, SharedPool>,
    events: SharedEvents,
    /// The processes, each with its node.
    processes: BTreeMap<ProcessId, u16>,
    /// What the driver itself has of a device, for a process.
    for_driver: BTreeMap<(ProcessId, u16), ByteSize>,
    /// The process that runs work as one piece.
    turn: Option<ProcessId>,
    discards: Vec<Discard>,
    ledger: Ledger,
    next_process: u32,
    next_alloc: u64,
    next_export: u64,
    next_pool: u64,
}

impl Machine {
    /// A machine of a profile, with nothing allocated.
    #[must_use]
    pub fn new(profile: Profile, policy: Policy) -> Self {
        let device_arenas = profile.devices.iter().map(|device| device.total);
        let host_arenas = (0..profile.host_numa_nodes).map(|_| ByteSize::new(HOST_NODE_BYTES));
        let arenas = device_arenas
            .chain(host_arenas)
            .map(|capacity| Arena::new(capacity.get(), ARENA_ROOM, profile.granularity.get()))
            .collect();
        Self {
            switches: Arena::new(team_bytes(&profile).get(), 1, profile.granularity.get()),
            teams: BTreeMap::new(),
            wirings: Vec::new(),
            profile,
            chooser: Chooser::new(policy, 0),
            arenas,
            allocations: BTreeMap::new(),
            exported_from: BTreeMap::new(),
            fabric: BTreeMap::new(),
            win32: BTreeMap::new(),
            legacy: BTreeMap::new(),
            pools: BTreeMap::new(),
            events: SharedEvents::default(),
            processes: BTreeMap::new(),
            for_driver: BTreeMap::new(),
            turn: None,
            discards: Vec::new(),
            ledger: Ledger::default(),
            next_process: 0,
            next_alloc: 0,
            next_export: 0,
            next_pool: 0,
        }
    }

    /// The profile.
    #[must_use]
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The size of each arena that simulated bytes are to be kept in, devices first, then NUMA nodes.
    #[must_use]
    pub fn arena_sizes(&self) -> Vec<ByteSize> {
        self.arenas.iter().map(|arena| ByteSize::new(arena.bytes())).collect()
    }

    /// Takes in a process, on a node or else on the first.
    pub fn connect(&mut self, node: Option<u16>) -> ProcessId {
        let process = ProcessId(self.next_process);
        self.next_process += 1;
        self.processes.insert(process, node.unwrap_or(0));
        process
    }

    /// A process has gone, however it went: drops what it held.
    pub fn disconnect(&mut self, process: ProcessId) {
        self.processes.remove(&process);
        self.for_driver.retain(|(holder, _), _| *holder != process);
        self.note_end(process);
        let held: Vec<AllocId> = self
            .allocations
            .iter()
            .filter(|(_, allocation)| allocation.holders.contains_key(&process))
            .map(|(alloc, _)| *alloc)
            .collect();
        for alloc in held {
            self.forget_holder(process, alloc);
        }
        self.drop_win32_table(process);
        self.legacy.retain(|_, export| export.exporter != process);
        self.legacy.values_mut().for_each(|export| export.close(process));
        self.leave_pools(process);
        self.events.disconnect(process);
        self.give_turn(process);
    }

    fn take_turn(&mut self, process: ProcessId) -> Answer {
        if *self.turn.get_or_insert(process) == process { Answer::Done } else { Answer::NotYet }
    }

    fn give_turn(&mut self, process: ProcessId) {
        self.turn = self.turn.filter(|other| *other != process);
    }

    /// The last copy of a descriptor has gone.
    pub fn descriptor_gone(&mut self, export: ExportId) {
        match self.exported_from.remove(&export) {
            Some(Exported::Allocation(alloc)) => {
                if let Some(allocation) = self.allocations.get_mut(&alloc) {
                    allocation.exports.remove(&export);
                }
                self.free_if_unheld(alloc);
            }
            Some(Exported::Pool(pool)) => self.pool_descriptor_gone(pool, export),
            None => {}
        }
    }

    /// What allocations left behind since the last time. Whoever keeps the bytes must discard these before the next
    /// question is answered.
    #[must_use]
    pub fn take_discards(&mut self) -> Vec<Discard> {
        std::mem::take(&mut self.discards)
    }

    /// Answers a question of a process.
    ///
    /// For [`Ask::ImportDescriptor`], `descriptor` is what the descriptor beside the question turned out to be. For
    /// [`Ask::ExportDescriptor`] the second part of the answer names the export, so that whoever carries the answer
    /// can put a descriptor beside it.
    ///
    /// # Errors
    /// Only what a correct process half never asks.
    pub fn answer(
        &mut self,
        process: ProcessId,
        ask: Ask,
        descriptor: Option<ExportId>,
    ) -> Result<(Answer, Option<ExportId>), MachineError> {
        if !self.processes.contains_key(&process) {
            return Err(MachineError::Process(process));
        }
        let answer = match ask {
            Ask::Create { place, prop, size, holding, site } => {
                self.create(process, place, prop, size, holding, site)?
            }
            Ask::Hold { alloc, holding } => {
                self.held_by(process, alloc)?.holders.insert(process, holding);
                Answer::Done
            }
            Ask::Drop { alloc } => {
                self.held_by(process, alloc)?;
                self.forget_holder(process, alloc);
                self.note_closed(process, alloc);
                Answer::Done
            }
            Ask::Free { alloc, site } => {
                self.held_by(process, alloc)?;
                self.forget_holder(process, alloc);
                self.free_legacy(process, alloc, site)
            }
            Ask::CannotGiveBack => {
                self.ledger.excuse(process);
                Answer::Done
            }
            Ask::Report { rule, text } => {
                self.ledger.take(Report { process, rule, text });
                Answer::Done
            }
            Ask::ExportDescriptor { alloc, site } => {
                let export = ExportId(self.next_export);
                self.held_by(process, alloc)?.exports.insert(export, site);
                self.next_export += 1;
                self.exported_from.insert(export, Exported::Allocation(alloc));
                return Ok((Answer::Descriptor, Some(export)));
            }
            Ask::ImportDescriptor => match descriptor.and_then(|export| self.exported_from.get(&export).copied()) {
                Some(Exported::Allocation(alloc)) => self.import(process, Some(alloc)),
                Some(Exported::Pool(_)) => Answer::OtherKind,
                None => Answer::NotExported,
            },
            Ask::ExportFabric { alloc } => self.export_fabric(process, alloc)?,
            Ask::ImportFabric { handle } => self.import_fabric(process, &handle),
            Ask::ExportWin32 { alloc } => self.export_win32(process, alloc)?,
            Ask::ImportWin32 { handle } => self.import_win32(process, handle),
            Ask::DuplicateWin32 { handle, to } => self.duplicate_win32(process, handle, to),
            Ask::CloseWin32 { handle } => self.close_win32(process, handle),
            Ask::MemInfo { device } => self.mem_info(device)?,
            Ask::TakeForDriver { device, bytes } => self.take_for_driver(process, device, bytes)?,
            Ask::GiveBackOfDriver { device, bytes } => self.give_back_of_driver(process, device, bytes),
            Ask::ExportLegacy { alloc, size } => self.export_legacy(process, alloc, size)?,
            Ask::ImportLegacy { handle, site } => self.import_legacy(process, &handle, site),
            Ask::SharePool { place, .. } => self.share_pool(process, place),
            Ask::ExportPoolDescriptor { pool, site } => {
                let export = self.export_pool(process, pool, site)?;
                return Ok((Answer::Descriptor, Some(export)));
            }
            Ask::ExportPoolFabric { pool } => self.export_pool_fabric(process, pool)?,
            Ask::ImportPoolDescriptor => {
                let exported = descriptor.and_then(|export| self.exported_from.get(&export).copied());
                self.import_pool(process, exported)
            }
            Ask::ImportPoolFabric { handle } => self.import_pool_fabric(process, &handle),
            Ask::ExportPoolPointer { pool, offset, size, bytes, units } => {
                self.export_pool_pointer(process, pool, (offset, size), bytes, units)?
            }
            Ask::ImportPoolPointer { pool, name, site } => self.import_pool_pointer(process, pool, &name, site)?,
            Ask::FreePoolPointer { pool, offset } => self.free_pool_pointer(process, pool, offset)?,
            Ask::ClosePool { pool } => self.close_pool(process, pool)?,
            Ask::AddToTeam { team, device, site } => self.add_to_team(process, team, device, site)?,
            Ask::WholeTeam { team } => self.whole_team(process, team)?,
            Ask::Bind { team, offset, alloc, from, size, site } => {
                self.bind(process, (team, offset), (alloc, from), size, site)?
            }
            Ask::Unbind { team, offset, device, size } => self.unbind(process, (team, offset), device, size)?,
            Ask::ShareEvent { event: Some(event) } => self.events.share_again(event),
            Ask::ShareEvent { event: None } => {
                let count = self.events.made();
                let handle = self.new_name(*b"peermap-event\0\0\0", u64::from(process.0), count);
                self.events.share(process, handle)
            }
            Ask::OpenEvent { handle } => self.events.open(process, &handle),
            Ask::CloseEvent { event } => self.events.close(process, event),
            Ask::RecordEvent { event } => self.events.record(process, event),
            Ask::TakeTurn => self.take_turn(process),
            Ask::GiveTurn => {
                self.give_turn(process);
                Answer::Done
            }
            Ask::PassEvent { event, number } => self.events.pass(event, number),
            Ask::MarkState { event, number } => self.events.mark(event, number),
        };
        Ok((answer, None))
    }

    fn create(
        &mut self,
        process: ProcessId,
        place: Place,
        prop: AllocationProp,
        size: ByteSize,
        holding: Holding,
        site: CallSite,
    ) -> Result<Answer, MachineError> {
        if size.is_zero() || !size.is_multiple_of(self.profile.granularity) {
            return Err(MachineError::Size(size));
        }
        let number = self.arena_of(place)?;
        let free = self.free_in(number);
        if size.get() > free {
            return Ok(Answer::OutOfMemory { free: ByteSize::new(free) });
        }
        let arena = if number == TEAM_ARENA { &mut self.switches } else { &mut self.arenas[usize::from(number)] };
        let first_granule = arena.take(size.get(), &mut self.chooser).ok_or(MachineError::Scattered { place, size })?;
        let prop = self.given(place, prop, size);
        let alloc = AllocId(self.next_alloc);
        self.next_alloc += 1;
        let backing = Backing { arena: number, first_granule };
        let record = AllocationRecord { alloc, size, place, prop, backing, site };
        let holders = BTreeMap::from([(process, holding)]);
        let (exports, pools, bound) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
        self.allocations.insert(alloc, Allocation { record, holders, exports, pools, bound });
        Ok(Answer::Allocation(record))
    }

    /// What of the properties that were asked for memory of a place gets: it is compressible only while the device has
    /// compressible memory left.
    fn given(&self, place: Place, asked: AllocationProp, size: ByteSize) -> AllocationProp {
        let compressible = |prop: &AllocationProp| prop.compression == CompressionType::GENERIC;
        let Place::Device(device) = place else { return asked };
        let mut given = asked;
        given.gpu_direct_rdma &= self.profile.gives(device, DeviceAttribute::GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED);
        if compressible(&asked) {
            let there = self.allocations.values().map(|allocation| &allocation.record);
            let taken = there.filter(|record| record.place == place && compressible(&record.prop));
            let needed = taken.map(|record| record.size.get()).sum::<u64>() + size.get();
            if needed > self.profile.compressible_bytes(device).get() {
                given.compression = CompressionType::NONE;
            }
        }
        given
    }

    fn import(&mut self, process: ProcessId, alloc: Option<AllocId>) -> Answer {
        match alloc.and_then(|alloc| self.allocations.get_mut(&alloc)) {
            Some(allocation) => {
                allocation.holders.insert(process, Holding::Handle);
                Answer::Allocation(allocation.record)
            }
            None => Answer::NotExported,
        }
    }

    /// 64 bytes that name something and cannot be made up by counting.
    fn new_name(&mut self, kind: [u8; 16], what: u64, count: u64) -> Vec<u8> {
        let mut name = kind.to_vec();
        name.extend(what.to_le_bytes());
        name.extend(count.to_le_bytes());
        name.resize_with(NAME_BYTES, || self.chooser.byte());
        name
    }

    fn arena_of(&self, place: Place) -> Result<u16, MachineError> {
        let devices = u16::try_from(self.profile.devices.len()).unwrap_or(TEAM_ARENA);
        match place {
            Place::Device(index) if index < devices => Ok(index),
            Place::HostNuma(node) if node < self.profile.host_numa_nodes => Ok(devices + node),
            Place::Team { .. } => Ok(TEAM_ARENA),
            Place::Device(_) | Place::HostNuma(_) => Err(MachineError::Place(place)),
        }
    }

    fn held_by(&mut self, process: ProcessId, alloc: AllocId) -> Result<&mut Allocation, MachineError> {
        self.allocations
            .get_mut(&alloc)
            .filter(|allocation| allocation.holders.contains_key(&process))
            .ok_or(MachineError::NotHeld { process, alloc })
    }

    fn forget_holder(&mut self, process: ProcessId, alloc: AllocId) {
        if let Some(allocation) = self.allocations.get_mut(&alloc) {
            allocation.holders.remove(&process);
        }
        self.fabric.retain(|_, export| (export.alloc, export.exporter) != (alloc, process));
        self.free_if_unheld(alloc);
    }

    fn free_if_unheld(&mut self, alloc: AllocId) {
        let in_a_table = self.win32.values().any(|named| *named == alloc);
        let unheld = |allocation: &Allocation| {
            let Allocation { holders, exports, pools, bound, .. } = allocation;
            let held = !holders.is_empty() || !exports.is_empty() || !pools.is_empty() || !bound.is_empty();
            !held && !in_a_table
        };
        if self.allocations.get(&alloc).is_some_and(unheld)
            && let Some(allocation) = self.allocations.remove(&alloc)
        {
            let AllocationRecord { backing, size, .. } = allocation.record;
            if backing.arena == TEAM_ARENA {
                self.switches.give_back(backing.first_granule, size.get());
                self.end_team(alloc, backing.first_granule, size);
            } else {
                self.arenas[usize::from(backing.arena)].give_back(backing.first_granule, size.get());
                self.discards.push(Discard { backing, size });
            }
        }
    }
}
