//! Pools that processes share.
//!
//! A pool keeps the memory behind every pointer that was exported of it, as long as a process has the pool or a
//! descriptor of it is open somewhere: the importer may come when the exporter has long freed it, or is gone.

use std::collections::{BTreeMap, BTreeSet};

use peermap_driver::{ByteSize, CallSite};

use super::{Exported, Machine, MachineError};
use crate::wire::{AllocId, Answer, ExportId, Holding, POOL_UNIT, Place, PoolId, PoolUnit, ProcessId};

/// What a pointer that was exported stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Pointer {
    offset: u64,
    size: ByteSize,
}

/// A pool that was exported.
pub(super) struct SharedPool {
    place: Place,
    /// The process that made it, while it has it.
    owner: ProcessId,
    /// The processes that have it.
    processes: BTreeSet<ProcessId>,
    exports: BTreeMap<ExportId, CallSite>,
    fabric: Option<Vec<u8>>,
    /// The memory behind exported pointers, by the number of the unit. A newer one takes an older one's place.
    kept: BTreeMap<u64, AllocId>,
    pointers: BTreeMap<Vec<u8>, Pointer>,
    /// Who has imported what begins where, and by which calls.
    imports: BTreeMap<u64, BTreeMap<ProcessId, CallSite>>,
    /// How many addresses it has.
    bytes: ByteSize,
}

impl Machine {
    pub(super) fn share_pool(&mut self, process: ProcessId, place: Place) -> Answer {
        let pool = PoolId(self.next_pool);
        self.next_pool += 1;
        let shared = SharedPool {
            place,
            owner: process,
            processes: BTreeSet::from([process]),
            exports: BTreeMap::new(),
            fabric: None,
            kept: BTreeMap::new(),
            pointers: BTreeMap::new(),
            imports: BTreeMap::new(),
            bytes: ByteSize::ZERO,
        };
        self.pools.insert(pool, shared);
        Answer::Pool { pool, place }
    }

    fn pool_of(&mut self, process: ProcessId, pool: PoolId) -> Result<&mut SharedPool, MachineError> {
        let shared = self.pools.get_mut(&pool).filter(|shared| shared.processes.contains(&process));
        shared.ok_or(MachineError::NoPool { process, pool })
    }

    pub(super) fn export_pool(
        &mut self,
        process: ProcessId,
        pool: PoolId,
        site: CallSite,
    ) -> Result<ExportId, MachineError> {
        let export = ExportId(self.next_export);
        self.pool_of(process, pool)?.exports.insert(export, site);
        self.next_export += 1;
        self.exported_from.insert(export, Exported::Pool(pool));
        Ok(export)
    }

    pub(super) fn export_pool_fabric(&mut self, process: ProcessId, pool: PoolId) -> Result<Answer, MachineError> {
        if let Some(handle) = &self.pool_of(process, pool)?.fabric {
            return Ok(Answer::Fabric(handle.clone()));
        }
        let handle = self.new_name(*b"peermap-fabric\0\0", pool.0, 1 << 63);
        self.pool_of(process, pool)?.fabric = Some(handle.clone());
        Ok(Answer::Fabric(handle))
    }

    pub(super) fn import_pool(&mut self, process: ProcessId, exported: Option<Exported>) -> Answer {
        match exported {
            Some(Exported::Pool(pool)) => self.open_pool(process, pool),
            Some(Exported::Allocation(_)) => Answer::OtherKind,
            None => Answer::NotExported,
        }
    }

    /// A fabric handle opens a pool while its owner has it.
    pub(super) fn import_pool_fabric(&mut self, process: ProcessId, handle: &[u8]) -> Answer {
        let is_there = |shared: &SharedPool| shared.processes.contains(&shared.owner);
        let named = self.pools.iter().find(|(_, shared)| shared.fabric.as_deref() == Some(handle) && is_there(shared));
        let from = named.map(|(_, shared)| (shared.place, shared.owner));
        match (self.apart(process, from), named.map(|(pool, _)| *pool)) {
            (Some(apart), _) => Answer::Apart(apart),
            (None, Some(pool)) => self.open_pool(process, pool),
            (None, None) => Answer::NotExported,
        }
    }

    fn open_pool(&mut self, process: ProcessId, pool: PoolId) -> Answer {
        match self.pools.get_mut(&pool) {
            Some(shared) => {
                shared.processes.insert(process);
                Answer::Pool { pool, place: shared.place }
            }
            None => Answer::NotExported,
        }
    }

    /// A name for an allocation of a pool, the same one each time, and its memory is kept from now on.
    pub(super) fn export_pool_pointer(
        &mut self,
        process: ProcessId,
        pool: PoolId,
        (offset, size): (u64, ByteSize),
        bytes: ByteSize,
        units: Vec<(u64, AllocId)>,
    ) -> Result<Answer, MachineError> {
        for (number, alloc) in units {
            self.held_by(process, alloc)?.pools.insert(pool);
            if let Some(older) = self.pool_of(process, pool)?.kept.insert(number, alloc).filter(|older| *older != alloc)
            {
                self.keep_no_longer(pool, older);
            }
        }
        let shared = self.pool_of(process, pool)?;
        shared.bytes = bytes;
        let pointer = Pointer { offset, size };
        if let Some((name, _)) = shared.pointers.iter().find(|(_, known)| **known == pointer) {
            return Ok(Answer::PoolPointer(name.clone()));
        }
        let count = shared.pointers.len() as u64;
        let name = self.new_name(*b"peermap-pool\0\0\0\0", pool.0, count);
        self.pool_of(process, pool)?.pointers.insert(name.clone(), pointer);
        Ok(Answer::PoolPointer(name))
    }

    /// What an exported pointer stands for; the process holds its memory from now on.
    pub(super) fn import_pool_pointer(
        &mut self,
        process: ProcessId,
        pool: PoolId,
        name: &[u8],
        site: CallSite,
    ) -> Result<Answer, MachineError> {
        let shared = self.pool_of(process, pool)?;
        let Some(Pointer { offset, size }) = shared.pointers.get(name).copied() else {
            return Ok(Answer::NotExported);
        };
        if process != shared.owner {
            shared.imports.entry(offset).or_default().entry(process).or_insert(site);
        }
        let bytes = shared.bytes;
        let numbers = offset / POOL_UNIT..(offset + size.get()).div_ceil(POOL_UNIT);
        let kept: Vec<(u64, AllocId)> = shared.kept.range(numbers).map(|(number, alloc)| (*number, *alloc)).collect();
        let mut units = Vec::with_capacity(kept.len());
        for (number, alloc) in kept {
            if let Some(allocation) = self.allocations.get_mut(&alloc) {
                allocation.holders.insert(process, Holding::Pool);
                units.push(PoolUnit { number, alloc, backing: allocation.record.backing });
            }
        }
        Ok(Answer::PoolAllocation { offset, size, bytes, units })
    }

    /// A process frees an allocation. Says who still has it imported, if it is the owner that frees.
    pub(super) fn free_pool_pointer(
        &mut self,
        process: ProcessId,
        pool: PoolId,
        offset: u64,
    ) -> Result<Answer, MachineError> {
        let shared = self.pool_of(process, pool)?;
        let Some(importers) = shared.imports.get_mut(&offset) else { return Ok(Answer::Done) };
        if process != shared.owner {
            importers.remove(&process);
            return Ok(Answer::Done);
        }
        // From now on it is another allocation.
        let still_open = importers.values().next().copied();
        shared.imports.remove(&offset);
        Ok(still_open.map_or(Answer::Done, |site| Answer::StillOpen { site }))
    }

    pub(super) fn close_pool(&mut self, process: ProcessId, pool: PoolId) -> Result<Answer, MachineError> {
        self.pool_of(process, pool)?.processes.remove(&process);
        self.end_pool_if_unheld(pool);
        Ok(Answer::Done)
    }

    /// A process has gone: it has no pool any more.
    pub(super) fn leave_pools(&mut self, process: ProcessId) {
        let had: Vec<PoolId> = self
            .pools
            .iter()
            .filter(|(_, shared)| shared.processes.contains(&process))
            .map(|(pool, _)| *pool)
            .collect();
        for pool in had {
            if let Some(shared) = self.pools.get_mut(&pool) {
                shared.processes.remove(&process);
                for importers in shared.imports.values_mut() {
                    importers.remove(&process);
                }
            }
            self.end_pool_if_unheld(pool);
        }
    }

    /// The last copy of a descriptor of a pool has gone.
    pub(super) fn pool_descriptor_gone(&mut self, pool: PoolId, export: ExportId) {
        if let Some(shared) = self.pools.get_mut(&pool) {
            shared.exports.remove(&export);
        }
        self.end_pool_if_unheld(pool);
    }

    fn end_pool_if_unheld(&mut self, pool: PoolId) {
        let unheld = |shared: &SharedPool| shared.processes.is_empty() && shared.exports.is_empty();
        if self.pools.get(&pool).is_some_and(unheld)
            && let Some(shared) = self.pools.remove(&pool)
        {
            shared.kept.into_values().for_each(|alloc| self.keep_no_longer(pool, alloc));
        }
    }

    fn keep_no_longer(&mut self, pool: PoolId, alloc: AllocId) {
        if let Some(allocation) = self.allocations.get_mut(&alloc) {
            allocation.pools.remove(&pool);
        }
        self.free_if_unheld(alloc);
    }
}
