//! Fabric handles: 64 bytes that open memory while its exporter holds it, on its node or on another.

use super::{Machine, MachineError};
use crate::imex::Apart;
use crate::wire::{AllocId, Answer, Place, ProcessId};

/// An allocation that a fabric handle is of.
pub(super) struct FabricExport {
    pub(super) alloc: AllocId,
    pub(super) exporter: ProcessId,
}

impl Machine {
    pub(super) fn export_fabric(&mut self, process: ProcessId, alloc: AllocId) -> Result<Answer, MachineError> {
        self.held_by(process, alloc)?;
        let count = self.fabric.len() as u64;
        let handle = self.new_name(*b"peermap-fabric\0\0", alloc.0, count);
        self.fabric.insert(handle.clone(), FabricExport { alloc, exporter: process });
        Ok(Answer::Fabric(handle))
    }

    pub(super) fn import_fabric(&mut self, process: ProcessId, handle: &[u8]) -> Answer {
        let named = self.fabric.get(handle).and_then(|export| {
            let place = self.allocations.get(&export.alloc)?.record.place;
            Some((export.alloc, place, export.exporter))
        });
        let from = named.map(|(_, place, exporter)| (place, exporter));
        match (self.apart(process, from), named) {
            (Some(apart), _) => Answer::Apart(apart),
            (None, named) => self.import(process, named.map(|(alloc, ..)| alloc)),
        }
    }

    /// What keeps a process from what another one exported; without an exporter, from anything that anybody exports.
    pub(super) fn apart(&self, importer: ProcessId, from: Option<(Place, ProcessId)>) -> Option<Apart> {
        let node = |process: ProcessId| self.processes.get(&process).copied().unwrap_or(0);
        let here = node(importer);
        let there = from.map_or(here, |(place, exporter)| self.profile.node_of(place, node(exporter)));
        self.profile.apart(here, there)
    }
}
