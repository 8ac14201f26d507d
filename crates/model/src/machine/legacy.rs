//! Legacy handles to `cuMemAlloc` memory.

use peermap_driver::ByteSize;

use super::{Machine, MachineError};
use crate::wire::{AllocId, Answer, Holding, ProcessId};

/// An allocation for which its process asked a legacy handle.
pub(super) struct LegacyExport {
    alloc: AllocId,
    size: ByteSize,
    pub(super) exporter: ProcessId,
    /// Whether the exporter has freed the memory; importers that opened it before keep it.
    freed: bool,
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
        self.legacy.insert(handle.clone(), LegacyExport { alloc, size, exporter: process, freed: false });
        Ok(Answer::Legacy(handle))
    }

    /// Lets a process hold what a legacy handle is of.
    pub(super) fn import_legacy(&mut self, process: ProcessId, handle: &[u8]) -> Answer {
        let Some(export) = self.legacy.get(handle) else { return Answer::Gone };
        if export.exporter == process {
            return Answer::OwnHandle;
        }
        match self.allocations.get_mut(&export.alloc).filter(|_| !export.freed) {
            Some(allocation) => {
                allocation.holders.insert(process, Holding::Legacy);
                Answer::LegacyAllocation { record: allocation.record, size: export.size }
            }
            None => Answer::Freed,
        }
    }

    /// A process holds an allocation no longer: if it exported it, nobody can open it any more.
    pub(super) fn note_freed(&mut self, process: ProcessId, alloc: AllocId) {
        let exported = |export: &&mut LegacyExport| export.alloc == alloc && export.exporter == process;
        for export in self.legacy.values_mut().filter(exported) {
            export.freed = true;
        }
    }
}
