//! Legacy handles to `cuMemAlloc` memory.

use std::collections::BTreeMap;

use peermap_driver::{ByteSize, CallSite};

use super::{Machine, MachineError};
use crate::wire::{AllocId, Answer, Holding, ProcessId};

/// An allocation for which its process asked a legacy handle.
pub(super) struct LegacyExport {
    alloc: AllocId,
    pub(super) size: ByteSize,
    pub(super) exporter: ProcessId,
    /// Since when the exporter has freed the memory; importers that opened it before keep it.
    freed: Option<CallSite>,
    /// Who has it open, and since which call.
    opened: BTreeMap<ProcessId, CallSite>,
}

impl LegacyExport {
    /// A process has it open no longer.
    pub(super) fn close(&mut self, process: ProcessId) {
        self.opened.remove(&process);
    }

    /// The call since which another process has it open, if the exporter has not freed it before.
    pub(super) fn open_since(&self) -> Option<CallSite> {
        self.opened.values().next().copied().filter(|_| self.freed.is_none())
    }
}

impl Machine {
    /// The legacy handle of an allocation: the same one each time.
    pub(super) fn export_legacy(
        &mut self,
        process: ProcessId,
        alloc: AllocId,
        size: ByteSize,
    ) -> Result<Answer, MachineError> {
        self.held_by(process, alloc)?;
        if let Some((handle, _)) = self.legacy.iter().find(|(_, export)| export.alloc == alloc) {
            return Ok(Answer::Legacy(handle.clone()));
        }
        let count = self.legacy.len() as u64;
        let handle = self.new_name(*b"peermap-legacy\0\0", alloc.0, count);
        let export = LegacyExport { alloc, size, exporter: process, freed: None, opened: BTreeMap::new() };
        self.legacy.insert(handle.clone(), export);
        Ok(Answer::Legacy(handle))
    }

    /// Lets a process hold what a legacy handle is of.
    pub(super) fn import_legacy(&mut self, process: ProcessId, handle: &[u8], site: CallSite) -> Answer {
        let Some(export) = self.legacy.get_mut(handle) else { return Answer::Gone };
        if export.exporter == process {
            return Answer::OwnHandle;
        }
        if let Some(site) = export.freed {
            return Answer::Freed { site };
        }
        match self.allocations.get_mut(&export.alloc) {
            Some(allocation) => {
                allocation.holders.insert(process, Holding::Legacy);
                export.opened.entry(process).or_insert(site);
                Answer::LegacyAllocation { record: allocation.record, size: export.size }
            }
            None => Answer::Gone,
        }
    }

    /// A process has memory open no longer.
    pub(super) fn note_closed(&mut self, process: ProcessId, alloc: AllocId) {
        self.legacy.values_mut().filter(|export| export.alloc == alloc).for_each(|export| export.close(process));
    }

    /// A process has freed memory: if it exported it, nobody can open it any more. Says who still has it open.
    pub(super) fn free_legacy(&mut self, process: ProcessId, alloc: AllocId, site: CallSite) -> Answer {
        let exported = |export: &&mut LegacyExport| export.alloc == alloc && export.exporter == process;
        let export = self.legacy.values_mut().find(exported);
        let still_open = export.and_then(|export| {
            export.freed = Some(site);
            export.opened.values().next().copied()
        });
        still_open.map_or(Answer::Done, |site| Answer::StillOpen { site })
    }
}
