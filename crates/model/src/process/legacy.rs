//! Memory from `cuMemAlloc`: it belongs to a context.

use peermap_driver::{
    AllocationProp, Argument, ByteSize, CallSite, DevicePtr, HandleType, IpcMemHandle, MemInfo, Result,
};

use super::physical::{name_of, unexpected};
use super::pool::{Ticket, freed_twice};
use super::queue::{Plan, Wait};
use super::space::RangeKind;
use super::{Outside, Process, ThreadId};
use crate::rules;
use crate::wire::{AllocId, Answer, Ask, Backing, Holding, Place, Rights};

/// Memory from `cuMemAlloc`.
#[derive(Clone, Copy, Debug)]
pub(super) struct LegacyAllocation {
    /// As asked for.
    pub(super) size: ByteSize,
    /// Whole granules.
    pub(super) mapped: ByteSize,
    pub(super) context: u64,
    pub(super) ordinal: usize,
    pub(super) alloc: AllocId,
    pub(super) backing: Backing,
    /// Freed in the order of a stream, which no synchronisation has seen: until then it can be used.
    pub(super) freed: Option<Ticket>,
    /// Whether there is a handle that opens it in other processes.
    pub(super) exported: bool,
    pub(super) site: CallSite,
}

impl Process {
    /// The legacy allocation whose granules hold an address, with its start.
    pub(super) fn legacy_at(&self, address: DevicePtr) -> Option<(u64, &LegacyAllocation)> {
        let (start, allocation) = self.legacy.range(..=address.get()).next_back()?;
        (address.get() < start + allocation.mapped.get()).then_some((*start, allocation))
    }

    /// `cuMemAlloc`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, ALLOC-1, ALLOC-2.
    pub fn mem_alloc(&mut self, outside: &mut Outside<'_>, thread: ThreadId, size: ByteSize) -> Result<DevicePtr> {
        let context = self.current(thread)?;
        if size.is_zero() && rules::ALLOC_1.is_on() {
            return Err(rules::ALLOC_1.refuse(&[], None));
        }
        self.allocate_for(outside, context, size)
    }

    /// Memory of a context's device that lives no longer than the context.
    pub(super) fn allocate_for(
        &mut self,
        outside: &mut Outside<'_>,
        context: u64,
        size: ByteSize,
    ) -> Result<DevicePtr> {
        let granularity = self.granularity();
        let out_of_memory = || rules::ALLOC_2.refuse(&[("size", &size)], None);
        let mapped = size.checked_next_multiple_of(granularity).ok_or_else(out_of_memory)?;
        let ordinal = self.ordinal_of_context(context);
        let ask = Ask::Create {
            place: Place::Device(self.visible[ordinal]),
            prop: AllocationProp::pinned_on(i32::try_from(ordinal).unwrap_or(i32::MAX), HandleType::NONE),
            size: mapped,
            holding: Holding::Legacy,
            site: self.site,
        };
        let record = match outside.machine.ask(ask)? {
            Answer::Allocation(record) => record,
            Answer::OutOfMemory { free } => {
                return Err(rules::ALLOC_2.refuse(&[("size", &size), ("free", &free)], None));
            }
            other => return Err(unexpected(&other)),
        };
        let placed = self.place_apart(mapped.get(), RangeKind::Legacy);
        let Some(start) = placed else {
            outside.machine.ask(Ask::Drop { alloc: record.alloc })?;
            return Err(out_of_memory());
        };
        let allocation = LegacyAllocation {
            size,
            mapped,
            context,
            ordinal,
            alloc: record.alloc,
            backing: record.backing,
            freed: None,
            exported: false,
            site: self.site,
        };
        for reaching in self.ordinals_reaching(context) {
            outside.tables.set(reaching, start, mapped, record.backing, Rights::ReadWrite);
        }
        self.legacy.insert(start, allocation);
        Ok(DevicePtr::new(start))
    }

    /// Takes addresses that nobody reserved, where no mapping hangs over from a reservation.
    pub(super) fn place_apart(&mut self, size: u64, kind: RangeKind) -> Option<u64> {
        let mut covered = Vec::new();
        let placed = loop {
            let place = self.space.take(size, 0, 0, kind, self.site, &self.chooser);
            match place {
                Some(start) if self.mapping_in(start, start + size).is_some() => covered.push(start),
                free => break free,
            }
        };
        covered.into_iter().for_each(|start| self.space.remove(start));
        placed
    }

    /// The devices that reach legacy memory of a context: its own, and those with peer access to it.
    pub(super) fn ordinals_reaching(&self, context: u64) -> Vec<usize> {
        let own = self.ordinal_of_context(context);
        let peers = self.contexts.values().filter(|state| state.peers.contains(&context)).map(|state| state.ordinal);
        std::iter::once(own).chain(peers).collect()
    }

    /// The call that made legacy memory which a context does not reach: memory of another device without peer access,
    /// or opened in another context.
    pub(super) fn out_of_reach(&self, context: u64, ptr: DevicePtr) -> Option<CallSite> {
        if let Some((_, opened)) = self.opened_at(ptr) {
            return (opened.context != context).then_some(opened.site);
        }
        let (_, allocation) = self.legacy_at(ptr)?;
        let reaches = self.ordinals_reaching(allocation.context).contains(&self.ordinal_of_context(context));
        (!reaches).then_some(allocation.site)
    }

    /// What must have ended before `cuMemFree` goes on: everything that may use the memory.
    ///
    /// # Errors
    /// FAULT-1, ALLOC-3.
    pub fn mem_free_waits(&mut self, ptr: DevicePtr) -> Result<Plan> {
        self.refuse_after_fault()?;
        if self.legacy.get(&ptr.get()).is_some_and(|allocation| allocation.freed.is_some()) {
            return Err(freed_twice(ptr));
        }
        let allocated = self.legacy.contains_key(&ptr.get()) && !self.is_of_module(ptr);
        let known = ptr.is_null() || allocated || self.is_pooled(ptr);
        if !known && rules::ALLOC_3.is_on() {
            let around = self.legacy_at(ptr).map(|(_, allocation)| allocation.site);
            let around = around.or_else(|| self.pooled_at(ptr).map(|(_, allocation)| allocation.site));
            let around = around.or_else(|| self.mapping_at(ptr).map(|(_, mapping)| mapping.site));
            return Err(rules::ALLOC_3.refuse(&[("ptr", &ptr)], around));
        }
        self.everything_is_seen();
        Ok(self.plan(&Wait::Everything))
    }

    /// `cuMemFree`, after the work has ended.
    ///
    /// # Errors
    /// If the machine cannot be told.
    pub fn mem_free(&mut self, outside: &mut Outside<'_>, ptr: DevicePtr) -> Result<()> {
        self.refuse_after_fault()?;
        if self.is_pooled(ptr) {
            return self.free_pooled_now(outside, ptr);
        }
        self.free_legacy(outside, ptr.get())
    }

    pub(super) fn free_legacy(&mut self, outside: &mut Outside<'_>, start: u64) -> Result<()> {
        let Some(allocation) = self.legacy.remove(&start) else { return Ok(()) };
        for ordinal in 0..self.visible.len() {
            outside.tables.clear(ordinal, start, allocation.mapped);
        }
        self.space.remove(start);
        let freed = outside.machine.ask(Ask::Free { alloc: allocation.alloc, site: self.site })?;
        if let Answer::StillOpen { site } = freed {
            let facts: [(&str, &dyn Argument); 2] = [("ptr", &DevicePtr::new(start)), ("size", &allocation.size)];
            self.note_misuse(&rules::ALLOC_4, &facts, Some(site));
        }
        Ok(())
    }

    /// Frees the legacy memory of a context that goes.
    pub(super) fn free_legacy_of(&mut self, outside: &mut Outside<'_>, context: u64) -> Result<()> {
        let starts: Vec<u64> = self
            .legacy
            .iter()
            .filter(|(_, allocation)| allocation.context == context)
            .map(|(start, _)| *start)
            .collect();
        starts.into_iter().try_for_each(|start| self.free_legacy(outside, start))
    }

    /// `cuMemGetInfo`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3.
    pub fn mem_get_info(&self, outside: &mut Outside<'_>, thread: ThreadId) -> Result<MemInfo> {
        let context = self.current(thread)?;
        let device = self.visible[self.ordinal_of_context(context)];
        match outside.machine.ask(Ask::MemInfo { device })? {
            Answer::MemInfo(info) => Ok(info),
            other => Err(unexpected(&other)),
        }
    }

    /// `cuIpcGetMemHandle`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, LEGACY-1.
    pub fn ipc_get_mem_handle(
        &mut self,
        outside: &mut Outside<'_>,
        thread: ThreadId,
        ptr: DevicePtr,
    ) -> Result<IpcMemHandle> {
        self.current(thread)?;
        let Some((start, allocation)) = self.legacy_at(ptr) else {
            let mapped = self.mapping_at(ptr).map(|(_, mapping)| mapping.site);
            let mapped = mapped.or_else(|| self.pooled_at(ptr).map(|(_, allocation)| allocation.site));
            return Err(rules::LEGACY_1.refuse(&[("ptr", &ptr)], mapped));
        };
        let handle = match outside.machine.ask(Ask::ExportLegacy { alloc: allocation.alloc, size: allocation.size })? {
            Answer::Legacy(handle) => name_of(handle).map(IpcMemHandle)?,
            other => return Err(unexpected(&other)),
        };
        if let Some(allocation) = self.legacy.get_mut(&start) {
            allocation.exported = true;
        }
        Ok(handle)
    }
}
