//! The simulated driver as pure state machines.
//!
//! Two halves, as in the real stack. A [`Process`] is the user-mode driver: address space, rights, contexts, streams,
//! handles. It is private to its process, so mapping and rights cost no round trip. The [`Machine`] is the kernel
//! driver: devices, physical allocations, who holds them, exported descriptors. They speak only in [`Ask`] and
//! [`Answer`]; whoever carries those, by a call or over a socket, makes no difference here.
//!
//! Nothing here does I/O, looks at a clock or draws a random number of its own: the steps take what they need as
//! arguments, and every choice that the driver's rules leave open goes through the [`Chooser`].
//!
//! What a call may refuse stands in [`rules`], one rule for each cause, with the recorded step that proves it.

#![forbid(unsafe_code)]

mod chooser;
mod imex;
mod lifecycle;
mod machine;
mod numbers;
mod process;
mod profile;
mod rule;
pub mod rules;
mod visibility;
mod wire;

pub use chooser::{Chooser, Policy};
pub use imex::{Apart, Fabric, Node};
pub use lifecycle::{HandleEvent, HandleState};
pub use machine::{
    DescriptorLine, Discard, HolderLine, HolderList, Leak, Ledger, Machine, MachineError, Report, Wired, Wiring,
    team_bytes,
};
pub use process::{
    FunctionInfo, Grace, HOST_TABLE, LoadedModule, Misuse, ModuleCode, Operand, Operation, Outcome, Outside,
    PageTables, Plan, Process, ProcessOptions, SharedWait, Synchronize, ThreadId, VariableInfo, Wait, Work, WorkFault,
    WorkId, most_registers,
};
pub use profile::{DeviceProfile, DriverMemory, MulticastGranularity, Platform, Profile, ProfileError};
pub use rule::{Evidence, Rule};
pub use visibility::{devices_seen, visible_devices};
pub use wire::{
    AllocId, AllocationRecord, Answer, Ask, Backing, ExportId, Holding, Incomplete, MachineLink, POOL_UNIT, Place,
    PoolId, PoolUnit, ProcessId, Rights, SharedEventId, SharedMark, TEAM_ARENA, TeamRefusal,
};
