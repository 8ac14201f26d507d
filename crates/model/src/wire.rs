//! What a process and its machine say to each other.

use serde::{Deserialize, Serialize};

use peermap_driver::{AllocationProp, ByteSize, CallSite, DriverError, MemInfo, Win32Handle};

use crate::imex::Apart;

/// A process as the machine numbers it, in the order of arrival.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ProcessId(pub u32);

/// A physical allocation of the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct AllocId(pub u64);

/// An exported descriptor of the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ExportId(pub u64);

/// What a pool reserves at a time.
///
/// # Units
/// Bytes.
///
/// # Source
/// trace pools/one, pool-sizes
pub const POOL_UNIT: u64 = 32 << 20;

/// A pool that processes share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct PoolId(pub u64);

/// An event that processes share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct SharedEventId(pub u64);

/// A mark of a shared event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SharedMark {
    /// The process that recorded it.
    pub recorder: ProcessId,
    /// Its number among the marks of this event, counted from 1.
    pub number: u64,
    /// Whether the work before it has ended.
    pub passed: bool,
}

/// The number of the arena that teams have their granules in. It has no bytes: what its granules stand for is bound memory.
pub const TEAM_ARENA: u16 = 255;

/// Where memory of the machine lies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Place {
    /// A device, by its number in the machine, whatever a process may see.
    Device(u16),
    /// A NUMA node of the host.
    HostNuma(u16),
    /// The switches: a multicast object, which stands for memory of each device of a team.
    Team {
        /// How many devices the team has when it is complete.
        devices: u32,
    },
}

/// Which simulated bytes an allocation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Backing {
    /// The arena: one for each device, in their order, then one for each NUMA node; or [`TEAM_ARENA`].
    pub arena: u16,
    /// The first of its granules.
    pub first_granule: u64,
}

/// Rights of a device on a mapping, the lesser before the greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub enum Rights {
    /// No access.
    #[default]
    None,
    /// Loads.
    Read,
    /// Loads and stores.
    ReadWrite,
}

/// How a process holds an allocation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Holding {
    /// With a handle at least.
    Handle,
    /// With mappings only.
    Mapping,
    /// As memory from `cuMemAlloc`.
    Legacy,
    /// Behind the addresses of a pool.
    Pool,
}

/// What a process asks its machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Ask {
    /// Allocate memory.
    Create {
        /// Where.
        place: Place,
        /// As what, in the words of the process that asks.
        prop: AllocationProp,
        /// How much, a multiple of the granularity.
        size: ByteSize,
        /// How it will be held.
        holding: Holding,
        /// By which call.
        site: CallSite,
    },
    /// Note how the process holds an allocation from now on.
    Hold {
        /// Which.
        alloc: AllocId,
        /// How.
        holding: Holding,
    },
    /// The process holds an allocation no longer.
    Drop {
        /// Which.
        alloc: AllocId,
    },
    /// The process frees memory that it allocated, and that others may have open.
    Free {
        /// Which.
        alloc: AllocId,
        /// By which call.
        site: CallSite,
    },
    /// Make a descriptor. It travels beside the answer.
    ExportDescriptor {
        /// Of which allocation.
        alloc: AllocId,
        /// By which call.
        site: CallSite,
    },
    /// Hold what a descriptor is of. The descriptor travels beside the question.
    ImportDescriptor,
    /// Make a fabric handle.
    ExportFabric {
        /// Of which allocation.
        alloc: AllocId,
    },
    /// Hold what a fabric handle is of.
    ImportFabric {
        /// Its bytes.
        handle: Vec<u8>,
    },
    /// Make a handle in the process's own table of NT handles.
    ExportWin32 {
        /// Of which allocation.
        alloc: AllocId,
    },
    /// Hold what a handle of the process's own table is of.
    ImportWin32 {
        /// The handle.
        handle: Win32Handle,
    },
    /// Make a handle of this table one of another process's table too (`DuplicateHandle`).
    DuplicateWin32 {
        /// The handle.
        handle: Win32Handle,
        /// Who gets it.
        to: ProcessId,
    },
    /// Take a handle out of the process's own table (`CloseHandle`).
    CloseWin32 {
        /// The handle.
        handle: Win32Handle,
    },
    /// The process can give nothing back any more, and ends soon: its work faulted, or a check ended its simulation.
    CannotGiveBack,
    /// The process did something that the driver accepts and a careful program does not do.
    Report {
        /// The rule about it.
        rule: String,
        /// Both sides of it, in a sentence.
        text: String,
    },
    /// Free and total memory of a device.
    MemInfo {
        /// The device, by its number in the machine.
        device: u16,
    },
    /// Take memory of a device for the driver itself.
    TakeForDriver {
        /// The device, by its number in the machine.
        device: u16,
        /// How much.
        bytes: ByteSize,
    },
    /// Give back memory that was taken for the driver itself.
    GiveBackOfDriver {
        /// The device, by its number in the machine.
        device: u16,
        /// How much.
        bytes: ByteSize,
    },
    /// Make a legacy handle.
    ExportLegacy {
        /// Of which allocation.
        alloc: AllocId,
        /// How much was asked for when it was allocated.
        size: ByteSize,
    },
    /// Hold what a legacy handle is of.
    ImportLegacy {
        /// Its bytes.
        handle: Vec<u8>,
        /// By which call.
        site: CallSite,
    },
    /// Make a pool one that other processes can import.
    SharePool {
        /// Where its memory lies.
        place: Place,
        /// By which call.
        site: CallSite,
    },
    /// Make a descriptor of a pool. It travels beside the answer.
    ExportPoolDescriptor {
        /// Which.
        pool: PoolId,
        /// By which call.
        site: CallSite,
    },
    /// Make a fabric handle of a pool.
    ExportPoolFabric {
        /// Which.
        pool: PoolId,
    },
    /// Have the pool that a descriptor is of. The descriptor travels beside the question.
    ImportPoolDescriptor,
    /// Have the pool that a fabric handle is of.
    ImportPoolFabric {
        /// Its bytes.
        handle: Vec<u8>,
    },
    /// Keep the memory of an allocation for importers, and name it.
    ExportPoolPointer {
        /// Of which pool.
        pool: PoolId,
        /// How far from the pool's base it begins.
        offset: u64,
        /// Its size as asked for.
        size: ByteSize,
        /// How many addresses the pool has.
        bytes: ByteSize,
        /// The memory behind it, by the number of the unit.
        units: Vec<(u64, AllocId)>,
    },
    /// Hold the memory that an exported pointer stands for.
    ImportPoolPointer {
        /// Of which pool.
        pool: PoolId,
        /// Its name.
        name: Vec<u8>,
        /// By which call.
        site: CallSite,
    },
    /// The process frees an allocation of a pool that it shares.
    FreePoolPointer {
        /// Of which pool.
        pool: PoolId,
        /// Where in the pool it begins.
        offset: u64,
    },
    /// The process has a pool no longer.
    ClosePool {
        /// Which.
        pool: PoolId,
    },
    /// Add a device to a team.
    AddToTeam {
        /// Which team.
        team: AllocId,
        /// The device, by its number in the machine.
        device: u16,
        /// By which call.
        site: CallSite,
    },
    /// Whether all devices of a team have been added.
    WholeTeam {
        /// Which team.
        team: AllocId,
    },
    /// Bind memory to a team.
    Bind {
        /// Which team.
        team: AllocId,
        /// Where in it.
        offset: u64,
        /// Which memory.
        alloc: AllocId,
        /// From where in it.
        from: u64,
        /// How much.
        size: ByteSize,
        /// By which call.
        site: CallSite,
    },
    /// Take back what was bound.
    Unbind {
        /// Of which team.
        team: AllocId,
        /// Where in it.
        offset: u64,
        /// Memory of which device, by its number in the machine.
        device: u16,
        /// How much.
        size: ByteSize,
    },
    /// Make an event that other processes can open, or give the handle of one again.
    ShareEvent {
        /// Which, if it is shared already.
        event: Option<SharedEventId>,
    },
    /// Hold what an event handle is of.
    OpenEvent {
        /// Its bytes.
        handle: Vec<u8>,
    },
    /// The process holds a shared event no longer.
    CloseEvent {
        /// Which.
        event: SharedEventId,
    },
    /// The process recorded a shared event.
    RecordEvent {
        /// Which.
        event: SharedEventId,
    },
    /// Let this process run work as one piece, if no other does.
    TakeTurn,
    /// The piece has ended.
    GiveTurn,
    /// The work before a mark of this process has ended.
    PassEvent {
        /// Of which event.
        event: SharedEventId,
        /// Which mark.
        number: u64,
    },
    /// How a mark of a shared event stands.
    MarkState {
        /// Which event.
        event: SharedEventId,
        /// Which mark; the last one if not given.
        number: Option<u64>,
    },
}

/// An allocation as an importer learns of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AllocationRecord {
    /// Which.
    pub alloc: AllocId,
    /// Its size.
    pub size: ByteSize,
    /// Where it lies.
    pub place: Place,
    /// Its properties, in the words of its creator.
    pub prop: AllocationProp,
    /// Its bytes.
    pub backing: Backing,
    /// The call that created it.
    pub site: CallSite,
}

/// Memory behind a part of a pool's addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PoolUnit {
    /// Which part, counted from the pool's base.
    pub number: u64,
    /// The allocation.
    pub alloc: AllocId,
    /// Its bytes.
    pub backing: Backing,
}

/// A team that is not complete.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Incomplete {
    /// How many devices it has when it is complete.
    pub wanted: u32,
    /// Those that were added, by their numbers in the machine, and by which calls.
    pub added: Vec<(u16, CallSite)>,
    /// The processes that hold it and have added no device.
    pub idle: Vec<ProcessId>,
}

/// Why a team does not do what was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum TeamRefusal {
    /// It has the device already.
    Added {
        /// Since when.
        site: CallSite,
    },
    /// It has as many devices as it was made for.
    Full {
        /// Since when.
        site: Option<CallSite>,
    },
    /// The device does not reach another one of the team.
    Apart {
        /// The other, by its number in the machine.
        other: u16,
        /// Since when the team has that one.
        site: CallSite,
    },
    /// The memory lies on no device of the team.
    Elsewhere {
        /// What made it.
        site: CallSite,
    },
    /// The team can be shared, the memory cannot.
    Unshareable {
        /// What made it.
        site: CallSite,
    },
    /// Memory of the device is bound there.
    Bound {
        /// Since when.
        site: CallSite,
    },
    /// The device is not of the team.
    NoMember,
    /// Nothing was bound with that offset and size.
    NotBound,
}

/// What a machine answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Answer {
    /// Done.
    Done,
    /// The allocation, new or imported.
    Allocation(AllocationRecord),
    /// No memory is left.
    OutOfMemory {
        /// How much is free.
        free: ByteSize,
    },
    /// Nothing of this machine has that descriptor or fabric handle.
    NotExported,
    /// The memory of a fabric handle is out of this process's reach.
    Apart(Apart),
    /// The descriptor is of something else: of a pool where memory is wanted, or the other way round.
    OtherKind,
    /// A pool that processes share.
    Pool {
        /// Which.
        pool: PoolId,
        /// Where its memory lies.
        place: Place,
    },
    /// The name of an exported pointer.
    PoolPointer(Vec<u8>),
    /// What an exported pointer stands for.
    PoolAllocation {
        /// How far from the pool's base it begins.
        offset: u64,
        /// Its size as asked for.
        size: ByteSize,
        /// How many addresses the pool has.
        bytes: ByteSize,
        /// The memory behind it.
        units: Vec<PoolUnit>,
    },
    /// A descriptor was made; it travels beside this answer.
    Descriptor,
    /// A fabric handle was made.
    Fabric(Vec<u8>),
    /// A handle was made in a table of NT handles.
    Win32(Win32Handle),
    /// Memory of a device.
    MemInfo(MemInfo),
    /// A legacy handle was made.
    Legacy(Vec<u8>),
    /// The allocation that a legacy handle is of.
    LegacyAllocation {
        /// The allocation.
        record: AllocationRecord,
        /// How much its exporter asked for.
        size: ByteSize,
    },
    /// All devices of a team, by their numbers in the machine.
    TeamDevices(Vec<u16>),
    /// The team is not complete.
    TeamIncomplete(Incomplete),
    /// The team does not do what was asked.
    Team(TeamRefusal),
    /// A legacy handle or an event handle of this very process.
    OwnHandle,
    /// The exporter of a legacy handle has freed the memory.
    Freed {
        /// By which call.
        site: CallSite,
    },
    /// The memory is freed; another process has it open.
    StillOpen {
        /// By which call.
        site: CallSite,
    },
    /// The exporter of a legacy handle has gone, or nobody holds the event of a handle.
    Gone,
    /// A shared event, and the handle that opens it in other processes.
    SharedEvent {
        /// Which.
        event: SharedEventId,
        /// Its handle.
        handle: Vec<u8>,
    },
    /// A mark of a shared event, if there is one.
    Mark(Option<SharedMark>),
    /// Another process has the turn.
    NotYet,
}

/// Whatever carries questions to the machine and answers back: a call in one process, a socket between two.
pub trait MachineLink {
    /// Asks and waits for the answer.
    ///
    /// # Errors
    /// [`DriverError::Host`] if the machine cannot be reached.
    fn ask(&mut self, ask: Ask) -> Result<Answer, DriverError>;
}
