//! Who holds what memory of the machine.

use std::fmt;

use peermap_driver::{ByteSize, CallSite};
use serde::{Deserialize, Serialize};

use super::Machine;
use crate::wire::{AllocId, Holding, Place, ProcessId};

/// An allocation and who keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The calls that made descriptors which are still open somewhere.
    pub descriptors: Vec<CallSite>,
    /// The calls that bound it to multicast objects which still have it.
    pub binds: Vec<CallSite>,
}

/// Everything that is held, in the order of creation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct HolderList(pub Vec<HolderLine>);

impl Machine {
    /// Who holds what.
    #[must_use]
    pub fn holders(&self) -> HolderList {
        HolderList(
            self.allocations
                .values()
                .map(|allocation| HolderLine {
                    alloc: allocation.record.alloc,
                    place: allocation.record.place,
                    size: allocation.record.size,
                    made_by: allocation.record.site,
                    processes: allocation.holders.iter().map(|(process, holding)| (*process, *holding)).collect(),
                    descriptors: allocation.exports.values().copied().collect(),
                    binds: allocation.bound.iter().map(|(_, site)| *site).collect(),
                })
                .collect(),
        )
    }
}

impl fmt::Display for HolderList {
    /// One line for each allocation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.0 {
            write!(f, "{} on {:?}, made by {}:", line.size, line.place, line.made_by)?;
            for (process, holding) in &line.processes {
                let how = match holding {
                    Holding::Handle => "a handle",
                    Holding::Mapping => "mappings",
                    Holding::Legacy => "cuMemAlloc",
                    Holding::Pool => "a pool",
                };
                write!(f, " {how} of process {};", process.0)?;
            }
            for site in &line.descriptors {
                write!(f, " a descriptor from {site};")?;
            }
            for site in &line.binds {
                write!(f, " a team by {site};")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
