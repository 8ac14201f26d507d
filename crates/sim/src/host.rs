//! The machine with its bytes and descriptors: what both ways of carrying questions share.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Weak};

use nix::errno::Errno;
use peermap_driver::{ByteSize, DriverError};
use peermap_exec::{Check, Checks};
use peermap_ipc::{IpcError, LimitError};
use peermap_memory::{Arena, Backing, Budget, MemoryError, Switches, Wire};
use peermap_model::{
    Answer, Ask, Discard, Grace, HolderList, Machine, MachineError, Policy, ProcessId, Profile, ProfileError, Wired,
    Wiring, team_bytes,
};
use peermap_report::Account;
use serde::{Deserialize, Serialize};

use crate::account::reported;
use crate::exports::Exports;
use crate::process::Inner;

/// How much of the host's free memory simulated memory may take, in percent.
const SHARE_OF_HOST_MEMORY: u64 = 75;

/// How a machine is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MachineOptions {
    /// How open choices are made.
    pub policy: Policy,
    /// When queued work runs that nobody waits for.
    pub grace: Grace,
    /// How much host memory simulated memory may take; three quarters of what is free if not given.
    pub host_memory: Option<ByteSize>,
    /// What kernels are watched for. Every process of the machine does so, in whatever OS process it lives.
    pub checks: Checks,
}

impl Default for MachineOptions {
    /// As measured, without checks; work that nobody waits for runs after a thousand further calls.
    fn default() -> Self {
        Self { policy: Policy::Measured, grace: Grace::Calls(1000), host_memory: None, checks: Checks::NONE }
    }
}

/// Why a simulated machine or process could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The profile is unknown or malformed.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// Simulated memory could not be made.
    #[error("simulated memory could not be made: {0}")]
    Memory(#[from] MemoryError),
    /// The host's free memory could not be read.
    #[error("the host's free memory could not be read: {0}")]
    Limit(#[from] LimitError),
    /// The kernel refused a descriptor.
    #[error("the kernel refused a descriptor: {0}; `ulimit -n` says how many are allowed")]
    Descriptor(#[from] Errno),
    /// The machine's process could not be spoken to.
    #[error("the simulated machine cannot be reached: {0}")]
    Unreachable(#[from] IpcError),
    /// What the machine tells of its memory cannot be handed over.
    #[error("what the machine tells of its memory cannot be handed over: {0}")]
    Account(io::Error),
    /// The machine answered something else.
    #[error("the simulated machine answered out of turn")]
    OutOfTurn,
}

/// A machine with its bytes and descriptors.
pub(crate) struct MachineHost {
    machine: Machine,
    exports: Exports,
    arenas: Vec<Arc<Arena>>,
    switches: Arc<Switches>,
    budget: Arc<Budget>,
    options: MachineOptions,
    /// The processes that live in this OS process.
    here: HashMap<ProcessId, Weak<Inner>>,
    /// Which process of the operating system each is.
    pids: BTreeMap<ProcessId, u32>,
    /// The same of those that have ended and left something.
    left: BTreeMap<ProcessId, u32>,
}

/// Descriptors that every process of a machine has open besides those of its memory.
const SPARE_DESCRIPTORS: u64 = 64;

/// How many descriptors a process needs to be the machine or to join it: three for each arena with every check, one each for the
/// budget and the switches, some for sockets and exported handles.
#[must_use]
pub fn descriptors_needed(profile: &Profile) -> u64 {
    let arenas = profile.devices.len() as u64 + u64::from(profile.host_numa_nodes);
    3 * arenas + 2 + SPARE_DESCRIPTORS
}

/// How much host memory simulated memory may take by default.
///
/// # Errors
/// If the host does not say how much is free.
pub fn default_host_memory() -> Result<ByteSize, LimitError> {
    peermap_ipc::limits::available_memory().map(|free| ByteSize::new(free / 100 * SHARE_OF_HOST_MEMORY))
}

impl MachineHost {
    pub(crate) fn new(profile: Profile, options: MachineOptions) -> Result<Self, SimError> {
        let limit = match options.host_memory {
            Some(limit) => limit,
            None => default_host_memory()?,
        };
        let budget = Arc::new(Budget::create(limit.get())?);
        let granularity = profile.granularity.get();
        let machine = Machine::new(profile, options.policy);
        let devices = machine.profile().devices.len();
        let switches = Arc::new(Switches::create(team_bytes(machine.profile()).get(), granularity, devices)?);
        let arenas = machine
            .arena_sizes()
            .into_iter()
            .enumerate()
            .map(|(index, size)| {
                let index = u8::try_from(index).expect("a profile has fewer than 255 devices and NUMA nodes");
                let arena = Arena::create(index, size.get(), granularity, Arc::clone(&budget))?;
                let marked = options.checks.has(Check::Uninitialised);
                Ok(Arc::new(if marked { arena.marked()? } else { arena }))
            })
            .collect::<Result<Vec<_>, MemoryError>>()?;
        Ok(Self {
            machine,
            exports: Exports::new()?,
            arenas,
            switches,
            budget,
            options,
            here: HashMap::new(),
            pids: BTreeMap::new(),
            left: BTreeMap::new(),
        })
    }

    pub(crate) const fn options(&self) -> &MachineOptions {
        &self.options
    }

    pub(crate) const fn profile(&self) -> &Profile {
        self.machine.profile()
    }

    /// The descriptors of the machine's memory: budget, switches, then those of each arena.
    pub(crate) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let arenas = self.arenas.iter().flat_map(|arena| arena.descriptors().into_iter().chain(arena.marks()));
        [self.budget.as_fd(), self.switches.descriptor()].into_iter().chain(arenas).collect()
    }

    pub(crate) fn arenas(&self) -> &[Arc<Arena>] {
        &self.arenas
    }

    /// What multicast addresses stand for.
    pub(crate) const fn switches(&self) -> &Arc<Switches> {
        &self.switches
    }

    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What becomes readable when a descriptor has gone.
    pub(crate) fn watch(&self) -> BorrowedFd<'_> {
        self.exports.watch()
    }

    pub(crate) fn connect(&mut self, node: Option<u16>) -> ProcessId {
        self.machine.connect(node)
    }

    /// Notes that a process lives in this OS process.
    pub(crate) fn introduce(&mut self, process: ProcessId, inner: Weak<Inner>) {
        self.here.insert(process, inner);
        self.known_as(process, std::process::id());
    }

    /// Notes which process of the operating system a process is.
    pub(crate) fn known_as(&mut self, process: ProcessId, pid: u32) {
        self.pids.insert(process, pid);
    }

    /// A process, if it lives in this OS process.
    pub(crate) fn process(&self, process: ProcessId) -> Option<Arc<Inner>> {
        self.here.get(&process).and_then(Weak::upgrade)
    }

    /// The processes that live in this OS process, but for one.
    pub(crate) fn processes_but(&self, one: ProcessId) -> Vec<Arc<Inner>> {
        self.here.iter().filter(|(process, _)| **process != one).filter_map(|(_, here)| here.upgrade()).collect()
    }

    pub(crate) fn disconnect(&mut self, process: ProcessId) -> Result<(), DriverError> {
        self.machine.disconnect(process);
        self.here.remove(&process);
        let pid = self.pids.remove(&process);
        let leaks = &self.machine.ledger().leaks;
        // Whoever left something is still spoken of, as long as it is remembered.
        if leaks.back().is_some_and(|leak| leak.process == process) {
            self.left.extend(pid.map(|pid| (process, pid)));
            self.left.retain(|process, _| leaks.iter().any(|leak| leak.process == *process));
        }
        self.discard()
    }

    /// Answers a question, after noticing which descriptors have gone.
    pub(crate) fn answer(
        &mut self,
        process: ProcessId,
        ask: Ask,
        descriptor: Option<BorrowedFd<'_>>,
    ) -> Result<(Answer, Option<OwnedFd>), DriverError> {
        self.notice_gone()?;
        let named = descriptor.and_then(|descriptor| self.exports.identify(descriptor));
        let (answer, export) = self.machine.answer(process, ask, named).map_err(|error| broken(&error))?;
        self.discard()?;
        let made = match export {
            Some(export) => Some(self.exports.make(export).map_err(|error| {
                self.machine.descriptor_gone(export);
                DriverError::Host { what: format!("no descriptor for an exported handle: {error}") }
            })?),
            None => None,
        };
        Ok((answer, made))
    }

    /// Frees what only descriptors held that are gone.
    pub(crate) fn notice_gone(&mut self) -> Result<(), DriverError> {
        let gone = self.exports.take_gone().map_err(|error| DriverError::Host { what: error.to_string() })?;
        for export in gone {
            self.machine.descriptor_gone(export);
        }
        self.discard()
    }

    pub(crate) fn holders(&mut self) -> Result<HolderList, DriverError> {
        let exports = self.machine.holders();
        let exports = exports.0.iter().flat_map(|line| line.descriptors.iter().map(|descriptor| descriptor.export));
        let found = self.exports.whereabouts(&exports.collect());
        // Only now: what has just gone is on its way to nobody.
        self.notice_gone()?;
        let mut holders = self.machine.holders();
        for descriptor in holders.0.iter_mut().flat_map(|line| &mut line.descriptors) {
            let files = found.get(&descriptor.export).into_iter().flatten();
            descriptor.open_in = files.map(|file| (file.pid, file.fd)).collect();
        }
        Ok(holders)
    }

    pub(crate) fn account(&mut self) -> Result<Account, DriverError> {
        let holders = self.holders()?;
        Ok(reported(&self.machine.profile().name, [&self.pids, &self.left], &holders, self.machine.ledger()))
    }

    /// Carries out what the machine says of bytes: what multicast addresses stand for, and what is free.
    fn discard(&mut self) -> Result<(), DriverError> {
        let granularity = self.machine.profile().granularity.get();
        // First of all nothing stands for memory any more that goes.
        for Wiring { first_granule, size, device, wired } in self.machine.take_wirings() {
            self.switches.wire(first_granule, size.get() / granularity, device, wire(wired));
        }
        for Discard { backing, size } in self.machine.take_discards() {
            self.arenas[usize::from(backing.arena)]
                .discard(backing.first_granule * granularity, size.get())
                .map_err(|error| DriverError::Host { what: error.to_string() })?;
        }
        Ok(())
    }
}

fn wire(wired: Wired) -> Wire {
    match wired {
        Wired::Nothing => Wire::Nothing,
        Wired::Unbound => Wire::Unbound,
        Wired::Memory(backing) => {
            let arena = u8::try_from(backing.arena).expect("a profile has fewer than 255 devices and NUMA nodes");
            Wire::Memory(Backing { arena, first_granule: backing.first_granule })
        }
    }
}

/// A process asked what a correct one never asks.
fn broken(error: &MachineError) -> DriverError {
    DriverError::Host { what: error.to_string() }
}

/// What a process is told about its machine, besides the descriptors of its memory.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Terms {
    pub(crate) process: ProcessId,
    /// The node that it is put on.
    pub(crate) node: Option<u16>,
    pub(crate) policy: Policy,
    /// Milliseconds, or nothing for never: between processes the grace is wall time.
    pub(crate) grace_ms: Option<u64>,
    pub(crate) checks: Checks,
}
