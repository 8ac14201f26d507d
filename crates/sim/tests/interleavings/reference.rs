//! The independent bookkeeping: who holds what, and the byte in every granule.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;

use peermap_driver::{CuResult, MemHandle};

/// How a call must end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    Accepted,
    Refused(CuResult),
    Crash,
}

pub const INVALID: Expected = Expected::Refused(CuResult::INVALID_VALUE);

/// Memory that somebody holds.
#[derive(Debug)]
pub struct Allocation {
    pub device: i32,
    pub shared: bool,
    /// The byte in each granule.
    pub bytes: Vec<u8>,
}

/// A handle value of a process.
#[derive(Clone, Debug)]
pub struct Handle {
    pub value: MemHandle,
    pub allocation: usize,
    pub references: u32,
    pub imported: bool,
}

/// A mapping of a whole allocation; its key is its start in granules.
#[derive(Clone, Debug)]
pub struct Mapping {
    pub handle: MemHandle,
    pub allocation: usize,
    pub granules: u64,
    /// The rights of the two devices: 0, 1 or 3.
    pub rights: [u64; 2],
}

impl Mapping {
    pub fn end(&self, start: u64) -> u64 {
        start + self.granules
    }
}

/// What one process has. Addresses are counted in granules.
#[derive(Debug, Default)]
pub struct Process {
    /// Values that are held, or that mappings keep.
    pub handles: Vec<Handle>,
    /// Every value that was ever handed out.
    pub values: Vec<MemHandle>,
    pub reservations: BTreeMap<u64, u64>,
    pub mappings: BTreeMap<u64, Mapping>,
}

impl Process {
    pub fn handle(&mut self, value: MemHandle) -> Option<&mut Handle> {
        self.handles.iter_mut().find(|handle| handle.value == value)
    }

    pub fn mapping_at(&self, at: u64) -> Option<(u64, &Mapping)> {
        self.mappings
            .iter()
            .map(|(start, mapping)| (*start, mapping))
            .find(|(start, mapping)| (*start..mapping.end(*start)).contains(&at))
    }

    pub fn touching(&self, start: u64, end: u64) -> Vec<u64> {
        let touches = |(first, mapping): &(&u64, &Mapping)| **first < end && mapping.end(**first) > start;
        self.mappings.iter().filter(touches).map(|(first, _)| *first).collect()
    }

    pub fn is_reserved(&self, at: u64) -> bool {
        self.reservations.iter().any(|(start, granules)| (*start..start + granules).contains(&at))
    }

    /// Drops values that nothing keeps any more.
    pub fn forget_handles(&mut self) {
        let mapped: BTreeSet<_> = self.mappings.values().map(|mapping| mapping.handle).collect();
        self.handles.retain(|handle| handle.references > 0 || mapped.contains(&handle.value));
    }

    /// Whether the process has the allocation, and if so, whether a handle to it.
    pub fn holds(&self, allocation: usize) -> Option<bool> {
        let of_it: Vec<_> = self.handles.iter().filter(|handle| handle.allocation == allocation).collect();
        (!of_it.is_empty()).then(|| of_it.iter().any(|handle| handle.references > 0))
    }

    /// Whether a device has a right on every granule of a range.
    pub fn reaches(&self, device: i32, start: u64, granules: u64, right: u64) -> bool {
        let device = usize::try_from(device).unwrap();
        (start..start + granules)
            .all(|at| self.mapping_at(at).is_some_and(|(_, mapping)| mapping.rights[device] & right == right))
    }

    pub fn map(&mut self, start: u64, size: u64, value: MemHandle, allocations: &[Allocation]) -> Expected {
        if size == 0 {
            return INVALID;
        }
        let Some(handle) = self.handle(value).filter(|handle| handle.references > 0).cloned() else {
            return Expected::Crash;
        };
        let granules = allocations[handle.allocation].bytes.len() as u64;
        if size != granules {
            return Expected::Refused(CuResult::NOT_SUPPORTED);
        }
        if !self.is_reserved(start) || !self.touching(start, start + granules).is_empty() {
            return INVALID;
        }
        let mapping = Mapping { handle: value, allocation: handle.allocation, granules, rights: [0; 2] };
        self.mappings.insert(start, mapping);
        Expected::Accepted
    }

    pub fn unmap(&mut self, start: u64, granules: u64) -> Expected {
        let end = start + granules;
        let touched = self.touching(start, end);
        let cut = touched.iter().any(|first| *first < start || self.mappings[first].end(*first) > end);
        if granules == 0 || !self.is_reserved(start) || cut {
            return INVALID;
        }
        for first in touched {
            self.mappings.remove(&first);
        }
        self.forget_handles();
        Expected::Accepted
    }

    pub fn set_access(&mut self, start: u64, granules: u64, device: i32, flags: u64) -> Expected {
        let end = start + granules;
        let whole = granules > 0
            && self.mappings.contains_key(&start)
            && self.mapping_at(end - 1).is_some_and(|(first, mapping)| mapping.end(first) == end);
        let Some(device) = usize::try_from(device).ok().filter(|device| *device < 2 && whole && flags != 2) else {
            return INVALID;
        };
        let mut at = start;
        while let Some(mapping) = self.mappings.get_mut(&at).filter(|_| at < end) {
            mapping.rights[device] = flags;
            at += mapping.granules;
        }
        Expected::Accepted
    }
}

/// An open copy of a descriptor.
#[derive(Debug)]
pub struct Descriptor {
    pub file: OwnedFd,
    pub export: usize,
    pub allocation: usize,
}

/// Everything.
#[derive(Debug, Default)]
pub struct Reference {
    /// In the order of creation, those that are gone included.
    pub allocations: Vec<Allocation>,
    pub processes: Vec<Process>,
    pub descriptors: Vec<Descriptor>,
    pub exports: usize,
}

impl Reference {
    /// The exports of an allocation that a descriptor is still open of.
    pub fn exports_of(&self, allocation: usize) -> usize {
        let of_it = self.descriptors.iter().filter(|descriptor| descriptor.allocation == allocation);
        of_it.map(|descriptor| descriptor.export).collect::<BTreeSet<_>>().len()
    }

    /// Whether anything keeps the allocation.
    pub fn is_kept(&self, allocation: usize) -> bool {
        self.exports_of(allocation) > 0 || self.processes.iter().any(|process| process.holds(allocation).is_some())
    }

    /// Granules of a device that are in use.
    pub fn used(&self, device: i32) -> u64 {
        let on_device = |index: &usize| self.allocations[*index].device == device;
        let kept = (0..self.allocations.len()).filter(|index| on_device(index) && self.is_kept(*index));
        kept.map(|index| self.allocations[index].bytes.len() as u64).sum()
    }

    /// The byte that a process finds at an address.
    pub fn byte(&self, process: usize, at: u64) -> u8 {
        let (start, mapping) = self.processes[process].mapping_at(at).expect("only mapped addresses are asked for");
        self.allocations[mapping.allocation].bytes[usize::try_from(at - start).unwrap()]
    }

    pub fn fill(&mut self, process: usize, start: u64, granules: u64, value: u8) {
        for at in start..start + granules {
            let (first, mapping) = self.processes[process].mapping_at(at).expect("the range was reached");
            self.allocations[mapping.allocation].bytes[usize::try_from(at - first).unwrap()] = value;
        }
    }
}
