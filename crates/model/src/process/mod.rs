//! One process's half of the driver.
//!
//! Each call of the driver is a method in the file of its concern; it takes the state and gives the answer. What a call
//! changes beyond this state goes through [`Outside`]: questions to the machine, entries of the devices' page tables.
//! Work that the driver would queue is queued as data ([`Operation`]); whoever owns the bytes runs it.

mod access;
mod context;
mod copy;
mod device;
mod driver_memory;
mod fabric;
mod in_flight;
mod legacy;
mod mapping;
mod module;
mod multicast;
mod occupancy;
mod opened;
mod physical;
mod piece;
mod placed;
mod pool;
mod query;
mod queue;
mod shared_event;
mod space;
mod stream;
mod surroundings;
mod win32;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use peermap_driver::{Argument, ByteSize, Call, CallSite, DevicePtr, DriverError, Explanation, Result};

pub use copy::{Operand, Operation};
pub use module::{FunctionInfo, LoadedModule, ModuleCode, VariableInfo};
pub use occupancy::most_registers;
pub use queue::{Outcome, Plan, Wait, Work, WorkFault, WorkId};
pub use shared_event::{SharedWait, Synchronize};

use crate::chooser::{Chooser, Policy};
use crate::numbers::NumberMap;
use crate::profile::Profile;
use crate::rule::Rule;
use crate::rules;
use crate::wire::{AllocId, Ask, Backing, MachineLink, ProcessId, Rights};
use context::ContextState;
use in_flight::Lucky;
use legacy::LegacyAllocation;
use mapping::Removed;
use module::{FunctionState, ModuleState};
use opened::OpenedLegacy;
use physical::{HandleRecord, HandleValues, ValueCount};
use placed::Mappings;
use pool::{Frees, Pools};
use queue::Queue;
use space::AddressSpace;
use stream::{EventState, StreamState};

/// How many removed mappings and freed allocations are remembered, to say what a fault ran into.
const REMEMBERED_REMOVALS: usize = 64;

/// A host thread of the process: each has a stack of contexts of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadId(pub u64);

/// When queued work that nobody waits for runs all the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grace {
    /// Never: code that forgets to wait fails every time.
    Never,
    /// After so many further calls of the process.
    Calls(u64),
    /// After so much time, by whoever has a clock, or a hundred queries that find work pending.
    Wall(std::time::Duration),
}

/// How a process is simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProcessOptions {
    /// How open choices are made.
    pub policy: Policy,
    /// When work runs that nobody waits for.
    pub grace: Grace,
    /// The first device address.
    pub window_base: u64,
    /// How many device addresses there are.
    pub window_bytes: u64,
    /// The node that it is on.
    pub node: u16,
}

/// In place of an ordinal, the table that says what the CPU may reach of mapped memory of the host.
pub const HOST_TABLE: usize = usize::MAX;

/// The page tables of the devices and of the host, as a process changes them.
pub trait PageTables {
    /// Gives a device of the process, or the host, rights on a range.
    fn set(&mut self, ordinal: usize, address: u64, size: ByteSize, backing: Backing, rights: Rights);

    /// Takes a range from a device of the process, or from the host.
    fn clear(&mut self, ordinal: usize, address: u64, size: ByteSize);
}

/// What lies outside a process's half of the driver.
pub struct Outside<'a> {
    /// The machine.
    pub machine: &'a mut dyn MachineLink,
    /// The page tables.
    pub tables: &'a mut dyn PageTables,
}

/// Something that the driver accepts and a careful program does not do.
pub type Misuse = Explanation;

struct FaultState {
    result: peermap_driver::CuResult,
    explanation: Explanation,
}

/// The private half of the simulated driver.
pub struct Process {
    id: ProcessId,
    profile: Arc<Profile>,
    visible: Vec<u16>,
    options: ProcessOptions,
    chooser: Chooser,
    initialised: bool,
    site: CallSite,
    threads: NumberMap<ThreadId, Vec<u64>>,
    contexts: BTreeMap<u64, ContextState>,
    streams: BTreeMap<u64, StreamState>,
    events: BTreeMap<u64, EventState>,
    modules: BTreeMap<u64, ModuleState>,
    functions: BTreeMap<u64, FunctionState>,
    queue: Queue,
    space: AddressSpace,
    mappings: Mappings,
    removed: VecDeque<Removed>,
    legacy: BTreeMap<u64, LegacyAllocation>,
    opened: BTreeMap<u64, OpenedLegacy>,
    pools: Pools,
    frees: Frees,
    lucky: Lucky,
    handles: NumberMap<u64, HandleRecord>,
    handle_values: HandleValues,
    held: NumberMap<AllocId, ValueCount>,
    /// Whether it ever had a handle of a team.
    knows_teams: bool,
    fault: Option<FaultState>,
    misuses: Vec<Misuse>,
    /// How many of them the machine knows.
    reported: usize,
    next_opaque: u64,
}

impl Process {
    /// A process that has made no call yet. `visible` are the machine's devices that it sees, in its order.
    #[must_use]
    pub fn new(id: ProcessId, profile: Arc<Profile>, visible: Vec<u16>, options: ProcessOptions) -> Self {
        let space = AddressSpace::new(options.window_base, options.window_bytes, profile.granularity.get());
        Self {
            id,
            visible,
            chooser: Chooser::new(options.policy, 1 + u64::from(id.0)),
            initialised: false,
            site: CallSite { process: id.0, number: 0, call: Call::cuInit },
            threads: NumberMap::default(),
            contexts: BTreeMap::new(),
            streams: BTreeMap::new(),
            events: BTreeMap::new(),
            modules: BTreeMap::new(),
            functions: BTreeMap::new(),
            queue: Queue::default(),
            space,
            mappings: Mappings::new(profile.granularity.get()),
            removed: VecDeque::new(),
            legacy: BTreeMap::new(),
            opened: BTreeMap::new(),
            pools: Pools::default(),
            frees: Frees::default(),
            lucky: Lucky::default(),
            handles: NumberMap::default(),
            handle_values: HandleValues::default(),
            held: NumberMap::default(),
            knows_teams: false,
            fault: None,
            misuses: Vec::new(),
            reported: 0,
            next_opaque: 0,
            options,
            profile,
        }
    }

    /// Its number in the machine.
    #[must_use]
    pub const fn id(&self) -> ProcessId {
        self.id
    }

    /// The profile of its machine.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What it did that a careful program does not do.
    #[must_use]
    pub fn misuses(&self) -> &[Misuse] {
        &self.misuses
    }

    /// What it did of that and its machine does not know yet.
    pub fn unreported(&mut self) -> impl Iterator<Item = Ask> {
        let new = &self.misuses[self.reported..];
        self.reported = self.misuses.len();
        new.iter().map(|misuse| Ask::Report { rule: misuse.rule.to_string(), text: misuse.to_string() })
    }

    /// The process ends: notes work that no synchronisation has seen through. Says whether it could have given back what it
    /// holds: after a fault most calls fail.
    pub fn end(&mut self) -> bool {
        self.note_lost_work();
        self.fault.is_none()
    }

    /// Begins a call: counts it, and refuses it before `cuInit`.
    ///
    /// # Errors
    /// INIT-1.
    pub fn enter(&mut self, call: Call) -> Result<()> {
        self.site = CallSite { process: self.id.0, number: self.site.number + 1, call };
        let needs_init =
            !matches!(call, Call::cuInit | Call::cuDriverGetVersion | Call::cuGetErrorName | Call::cuGetErrorString);
        if needs_init && !self.initialised && rules::INIT_1.is_on() {
            return Err(rules::INIT_1.refuse(&[], None));
        }
        Ok(())
    }

    /// Refuses a call that needs living contexts after a device fault.
    fn refuse_after_fault(&self) -> Result<()> {
        match &self.fault {
            Some(fault) => Err(DriverError::Refused {
                result: fault.result,
                explanation: Some(Box::new(fault.explanation.clone())),
            }),
            None => Ok(()),
        }
    }

    fn granularity(&self) -> ByteSize {
        self.profile.granularity
    }

    /// A value that nothing else of this process has: for contexts, streams, events, modules and kernels.
    fn new_opaque(&mut self) -> u64 {
        self.next_opaque += 1;
        0x5500_0000_0000 + self.next_opaque * 0x100
    }

    /// The machine's number of a device, if this process sees it.
    fn device_of(&self, ordinal: i32) -> Option<u16> {
        usize::try_from(ordinal).ok().and_then(|index| self.visible.get(index)).copied()
    }

    fn ordinal_of(&self, device: u16) -> Option<usize> {
        self.visible.iter().position(|visible| *visible == device)
    }

    /// Notes a misuse by the call of now.
    fn note_misuse(&mut self, rule: &'static Rule, facts: &[(&'static str, &dyn Argument)], earlier: Option<CallSite>) {
        self.misuses.extend(rule.misuse(facts, &self.site, earlier));
    }

    /// What is known about an address, for the explanation of a fault: who mapped it, or who took it away.
    fn history_of(&self, address: DevicePtr) -> Option<CallSite> {
        if let Some((_, mapping)) = self.mapping_at(address) {
            return Some(mapping.site);
        }
        self.removed
            .iter()
            .rev()
            .find(|removed| removed.start <= address.get() && address.get() < removed.end)
            .map(|removed| removed.site)
    }
}
