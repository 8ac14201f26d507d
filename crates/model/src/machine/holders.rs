//! Who holds what memory of the machine.

use std::fmt;

use peermap_driver::{ByteSize, CallSite};

use super::{Allocation, Machine};
use crate::wire::{AllocId, ExportId, Holding, Place, ProcessId};

/// An allocation and who keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HolderLine {
    /// Which.
    pub alloc: AllocId,
    /// Where it lies.
    pub place: Place,
    /// How large it is.
    pub size: ByteSize,
    /// The call that made it.
    pub made_by: CallSite,
    /// The processes that hold it, and how.
    pub processes: Vec<(ProcessId, Holding)>,
    /// The descriptors of it that are still open somewhere.
    pub descriptors: Vec<DescriptorLine>,
    /// The processes that have an NT handle of it in their table.
    pub nt_handles: Vec<ProcessId>,
    /// Whether a pool keeps it for those who imported the pool.
    pub in_pool: bool,
    /// The calls that bound it to multicast objects which still have it.
    pub binds: Vec<CallSite>,
}

/// A descriptor of an allocation, and all copies of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescriptorLine {
    /// Which.
    pub export: ExportId,
    /// The call that made it.
    pub made_by: CallSite,
    /// In which OS processes it is open, and as which number. In none: it is on its way between two. Whoever keeps the
    /// descriptors knows that and puts it here.
    pub open_in: Vec<(u32, i32)>,
}

/// Everything that is held, in the order of creation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HolderList(pub Vec<HolderLine>);

impl Machine {
    /// Who holds what.
    #[must_use]
    pub fn holders(&self) -> HolderList {
        HolderList(self.allocations.values().map(|allocation| self.line(allocation)).collect())
    }

    /// What a process holds, and how: others that hold it too are not named.
    pub(super) fn held_alone(&self, process: ProcessId) -> HolderList {
        let held =
            self.allocations.values().filter_map(|allocation| Some((allocation, allocation.holders.get(&process)?)));
        let line = |(allocation, holding): (&Allocation, &Holding)| {
            let (processes, descriptors, nt_handles) = (vec![(process, *holding)], Vec::new(), Vec::new());
            HolderLine { processes, descriptors, nt_handles, ..self.line(allocation) }
        };
        HolderList(held.map(line).collect())
    }

    fn line(&self, allocation: &Allocation) -> HolderLine {
        let record = &allocation.record;
        let descriptor = |(export, site): (&ExportId, &CallSite)| DescriptorLine {
            export: *export,
            made_by: *site,
            open_in: Vec::new(),
        };
        let named = self.win32.iter().filter(|(_, alloc)| **alloc == record.alloc);
        HolderLine {
            alloc: record.alloc,
            place: record.place,
            size: record.size,
            made_by: record.site,
            processes: allocation.holders.iter().map(|(process, holding)| (*process, *holding)).collect(),
            descriptors: allocation.exports.iter().map(descriptor).collect(),
            nt_handles: named.map(|((process, _), _)| *process).collect(),
            in_pool: !allocation.pools.is_empty(),
            binds: allocation.bound.iter().map(|(_, site)| *site).collect(),
        }
    }
}

impl fmt::Display for Holding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Handle => "a handle",
            Self::Mapping => "mappings",
            Self::Legacy => "cuMemAlloc or cuIpcOpenMemHandle",
            Self::Pool => "a pool",
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(device) => write!(f, "device {device}"),
            Self::HostNuma(node) => write!(f, "NUMA node {node}"),
            Self::Team { .. } => f.write_str("a multicast team"),
        }
    }
}

impl fmt::Display for DescriptorLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a descriptor from {}, ", self.made_by)?;
        if self.open_in.is_empty() {
            return f.write_str("on its way between processes");
        }
        for (index, (pid, fd)) in self.open_in.iter().enumerate() {
            write!(f, "{}{fd} of pid {pid}", if index == 0 { "open as " } else { ", " })?;
        }
        Ok(())
    }
}

impl fmt::Display for HolderLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}, made by {}, kept by", self.size, self.place, self.made_by)?;
        let processes = self.processes.iter().map(|(process, how)| format!("{how} of process {}", process.0));
        let descriptors = self.descriptors.iter().map(ToString::to_string);
        let nt_handles = self.nt_handles.iter().map(|process| format!("an NT handle of process {}", process.0));
        let pool = self.in_pool.then(|| "a pool that others imported".to_owned());
        let binds = self.binds.iter().map(|site| format!("the team of {site}"));
        let keepers: Vec<_> = processes.chain(descriptors).chain(nt_handles).chain(pool).chain(binds).collect();
        write!(f, " {}", if keepers.is_empty() { "nobody".to_owned() } else { keepers.join("; ") })
    }
}

impl fmt::Display for HolderList {
    /// One line for each allocation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
