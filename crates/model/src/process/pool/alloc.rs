//! Allocation and free in the order of streams, and what synchronisations let go.

use std::collections::BTreeSet;

use peermap_driver::{
    AllocationProp, Argument, ByteSize, DevicePtr, DriverError, Event, HandleType, Location, MemPool, Result, Stream,
};

use super::room::{self, Unit};
use super::seen::Ticket;
use super::{Outside, PoolAllocation, PoolState, Process};
use crate::process::ThreadId;
use crate::process::physical::unexpected;
use crate::process::queue::{StreamKey, WorkId};
use crate::process::space::RangeKind;
use crate::rules;
use crate::wire::{AllocId, Answer, Ask, Holding, POOL_UNIT as UNIT, Place, Rights};

impl Process {
    /// `cuMemAllocAsync`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, STREAM-2, POOL-7.
    pub fn mem_alloc_async(
        &mut self,
        outside: &mut Outside<'_>,
        thread: ThreadId,
        size: ByteSize,
        stream: Stream,
    ) -> Result<DevicePtr> {
        let key = self.stream_key(thread, stream)?;
        let pool = self.current_pool(self.ordinal_of_context(key.context));
        self.alloc_in(outside, key, pool, size)
    }

    /// `cuMemAllocFromPoolAsync`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, STREAM-2, POOL-1, POOL-2, POOL-7.
    pub fn mem_alloc_from_pool_async(
        &mut self,
        outside: &mut Outside<'_>,
        thread: ThreadId,
        size: ByteSize,
        pool: MemPool,
        stream: Stream,
    ) -> Result<DevicePtr> {
        let key = self.stream_key(thread, stream)?;
        self.own_pool(pool)?;
        self.alloc_in(outside, key, pool.as_raw(), size)
    }

    /// Memory that another stream freed behind work that has not ended is left alone while the pool can grow (trace
    /// pools/busy, pool-busy-free); otherwise the stream takes it over and waits for that work.
    fn alloc_in(&mut self, outside: &mut Outside<'_>, key: StreamKey, pool: u64, size: ByteSize) -> Result<DevicePtr> {
        if size.is_zero() {
            return Ok(DevicePtr::NULL);
        }
        let out_of_memory = || rules::POOL_7.refuse(&[("size", &size)], None);
        let needed = room::rounded(size.get()).ok_or_else(out_of_memory)?;
        self.open_room(pool, needed).ok_or_else(out_of_memory)?;
        let busy = self.busy_frees(key, pool);
        let apart = match self.pools.all[&pool].room.find(needed, &busy) {
            Some(offset) => self.alloc_at(outside, pool, offset, size),
            None => Err(out_of_memory()),
        };
        let [_, _, may_order] = self.pools.all[&pool].reuse;
        let is_full = apart.as_ref().is_err_and(|error| error.rule() == Some(rules::POOL_7.id));
        if !is_full || busy.is_empty() || !may_order {
            return apart;
        }
        let nothing = BTreeSet::new();
        let offset = self.pools.all[&pool].room.find(needed, &nothing).ok_or_else(out_of_memory)?;
        let taken_over: Vec<Ticket> = self.pools.all[&pool].room.unseen_in(offset, needed).collect();
        let ptr = self.alloc_at(outside, pool, offset, size)?;
        let ahead = taken_over.into_iter().filter(|ticket| busy.contains(ticket));
        let ahead: Vec<WorkId> = ahead.filter_map(|ticket| self.work_before(ticket)).collect();
        ahead.into_iter().for_each(|work| self.enqueue_after(key, work));
        Ok(ptr)
    }

    /// Allocates at a place in a pool, and reserves what memory is missing there.
    fn alloc_at(&mut self, outside: &mut Outside<'_>, pool: u64, offset: u64, size: ByteSize) -> Result<DevicePtr> {
        let needed = room::rounded(size.get()).expect("the caller rounded it");
        let state = &self.pools.all[&pool];
        let missing = state.room.missing(offset, needed);
        let units = state.room.reserved() / UNIT + missing.len() as u64;
        if let Some(most) = state.most_units.filter(|most| units > *most)
            && rules::POOL_7.is_on()
        {
            // The driver takes units until there may be no more, and gives them back.
            let (most, site) = (ByteSize::new(most * UNIT), state.site);
            let state = self.pool_mut(pool);
            state.reserved_high = state.reserved_high.max(most.get());
            return Err(rules::POOL_7.refuse(&[("size", &size), ("max_size", &most)], Some(site)));
        }
        for (done, number) in missing.iter().enumerate() {
            if let Err(error) = self.reserve_unit(outside, pool, *number, size) {
                for number in &missing[..done] {
                    self.release_unit(outside, pool, *number)?;
                }
                return Err(error);
            }
        }
        let site = self.site;
        let state = self.pool_mut(pool);
        state.room.take(offset, needed);
        state.used.set(state.used.current + size.get());
        state.reserved_high = state.reserved_high.max(state.room.reserved());
        let start = state.room.base + offset;
        self.pools.allocations.insert(start, PoolAllocation { size, pool, nested: false, site });
        Ok(DevicePtr::new(start))
    }

    /// The frees in a pool that a stream does not come behind and whose work has not ended.
    fn busy_frees(&self, key: StreamKey, pool: u64) -> BTreeSet<Ticket> {
        let unseen = self.pools.all[&pool].room.unseen();
        let foreign = unseen.filter(|ticket| !self.frees.is_behind(key, *ticket));
        foreign.filter(|ticket| self.work_before(*ticket).is_some()).collect()
    }

    /// The work before a free that has not ended.
    fn work_before(&self, ticket: Ticket) -> Option<WorkId> {
        self.frees.work_ahead(ticket).filter(|work| self.queue.is_pending(*work))
    }

    /// Whether nothing of a pool is allocated and all work before its frees has ended.
    pub(super) fn pool_is_idle(&self, state: &PoolState) -> bool {
        state.room.is_empty() && state.room.unseen().all(|ticket| self.work_before(ticket).is_none())
    }

    /// Gives a pool addresses before its first allocation: as many as its place has memory, or fewer if there are not.
    pub(super) fn open_room(&mut self, pool: u64, needed: u64) -> Option<()> {
        let state = &self.pools.all[&pool];
        if state.room.base != 0 {
            return Some(());
        }
        let most = match state.place {
            Place::Device(device) => self.profile.devices[usize::from(device)].total.get(),
            Place::HostNuma(_) => crate::machine::HOST_NODE_BYTES,
            Place::Team { .. } => unreachable!("no pool lies on the switches"),
        };
        let needed = needed.checked_next_multiple_of(UNIT)?;
        let halves = |bytes: &u64| Some(bytes / 2 / UNIT * UNIT).filter(|half| *half >= needed);
        let mut sizes = std::iter::successors(Some(most / UNIT * UNIT).filter(|most| *most >= needed), halves);
        let (bytes, base) = sizes.find_map(|bytes| Some((bytes, self.place_apart(bytes, RangeKind::Pool)?)))?;
        self.pool_mut(pool).room.open(base, bytes);
        Some(())
    }

    /// Puts memory behind a unit of a pool's addresses.
    fn reserve_unit(&mut self, outside: &mut Outside<'_>, pool: u64, number: u64, size: ByteSize) -> Result<()> {
        let place = self.pools.all[&pool].place;
        let location = match place {
            Place::Device(device) => {
                Location::device(self.ordinal_of(device).and_then(|ordinal| i32::try_from(ordinal).ok()).unwrap_or(-1))
            }
            Place::HostNuma(node) => Location { kind: peermap_driver::LocationType::HOST_NUMA, id: i32::from(node) },
            Place::Team { .. } => unreachable!("no pool lies on the switches"),
        };
        let prop = AllocationProp { location, ..AllocationProp::pinned_on(0, HandleType::NONE) };
        let ask = Ask::Create { place, prop, size: ByteSize::new(UNIT), holding: Holding::Pool, site: self.site };
        match outside.machine.ask(ask)? {
            Answer::Allocation(record) => {
                let unit = Unit { alloc: record.alloc, backing: record.backing };
                self.add_unit(outside, pool, number, unit);
                Ok(())
            }
            Answer::OutOfMemory { free } => {
                let facts: [(&str, &dyn Argument); 2] = [("size", &size), ("free", &free)];
                Err(rules::POOL_7.refuse(&facts, None))
            }
            other => Err(unexpected(&other)),
        }
    }

    /// Lets the devices that have a right on a pool reach a unit.
    pub(super) fn add_unit(&mut self, outside: &mut Outside<'_>, pool: u64, number: u64, unit: Unit) {
        let state = self.pool_mut(pool);
        state.room.add_unit(number, unit);
        let address = state.room.address_of(number);
        for ordinal in state.rights.granted() {
            outside.tables.set(ordinal, address, ByteSize::new(UNIT), unit.backing, Rights::ReadWrite);
        }
    }

    fn release_unit(&mut self, outside: &mut Outside<'_>, pool: u64, number: u64) -> Result<()> {
        let state = self.pool_mut(pool);
        let Some(unit) = state.room.remove_unit(number) else { return Ok(()) };
        let address = state.room.address_of(number);
        for ordinal in state.rights.granted() {
            outside.tables.clear(ordinal, address, ByteSize::new(UNIT));
        }
        self.let_go_unit(outside, unit.alloc)
    }

    /// Holds a unit no longer, unless another pool of this process has it: a process may import its own.
    pub(super) fn let_go_unit(&self, outside: &mut Outside<'_>, alloc: AllocId) -> Result<()> {
        let mut all = self.pools.all.values().flat_map(|pool| pool.room.units());
        if all.any(|(_, unit)| unit.alloc == alloc) {
            return Ok(());
        }
        outside.machine.ask(Ask::Drop { alloc }).map(|_| ())
    }

    /// Gives memory that a pool does not use back to the device, but keeps so much.
    fn release(&mut self, outside: &mut Outside<'_>, pool: u64, keep: u64) -> Result<()> {
        let spare = self.pools.all[&pool].room.releasable(keep);
        spare.into_iter().try_for_each(|number| self.release_unit(outside, pool, number))
    }

    /// `cuMemPoolTrimTo`.
    ///
    /// # Errors
    /// POOL-1, POOL-2.
    pub fn mem_pool_trim_to(&mut self, outside: &mut Outside<'_>, pool: MemPool, keep: ByteSize) -> Result<()> {
        self.own_pool(pool)?;
        self.release(outside, pool.as_raw(), keep.get())
    }

    /// `cuMemFreeAsync`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, STREAM-2, POOL-8.
    pub fn mem_free_async(
        &mut self,
        outside: &mut Outside<'_>,
        thread: ThreadId,
        ptr: DevicePtr,
        stream: Stream,
    ) -> Result<()> {
        let key = self.stream_key(thread, stream)?;
        if ptr.is_null() {
            return Ok(());
        }
        if self.pools.allocations.contains_key(&ptr.get()) {
            self.note_shared_free(outside, ptr)?;
            let ticket = self.free_behind_work(key);
            self.free_pooled(ptr.get(), Some(ticket));
            return Ok(());
        }
        let Some(allocation) = self.legacy.get(&ptr.get()).filter(|_| !self.is_of_module(ptr)) else {
            let around = self.pooled_at(ptr).map(|(_, allocation)| allocation.site);
            let around = around.or_else(|| self.history_of(ptr));
            return Err(rules::POOL_8.refuse(&[("ptr", &ptr)], around));
        };
        if allocation.freed.is_some() {
            return Err(freed_twice(ptr));
        }
        let ticket = self.free_behind_work(key);
        self.legacy.entry(ptr.get()).and_modify(|allocation| allocation.freed = Some(ticket));
        Ok(())
    }

    /// A free in the order of a stream: behind the work that is on it now.
    fn free_behind_work(&mut self, key: StreamKey) -> Ticket {
        let ahead = self.enqueue_behind_work(key);
        self.frees.add(key, ahead)
    }

    /// Frees an allocation of a pool. Without a ticket it is freed at once.
    fn free_pooled(&mut self, start: u64, ticket: Option<Ticket>) -> u64 {
        let allocation = self.pools.allocations.remove(&start).expect("the caller found the allocation");
        self.remember_removal(start, start + allocation.size.get());
        let state = self.pool_mut(allocation.pool);
        let needed = room::rounded(allocation.size.get()).unwrap_or(0);
        if !allocation.nested {
            state.room.give_back(start - state.room.base, needed, ticket);
            self.free_nested(start, needed);
        }
        let state = self.pool_mut(allocation.pool);
        // The driver forgets to count what `cuMemFree` frees (trace pools/one, pool-attributes 59).
        if ticket.is_some() {
            state.used.current = state.used.current.saturating_sub(allocation.size.get());
        }
        allocation.pool
    }

    /// What was imported inside an import that is freed has its own room from now on.
    fn free_nested(&mut self, start: u64, bytes: u64) {
        for (inside, allocation) in self.pools.allocations.range_mut(start..start + bytes) {
            let room = &mut self.pools.all.get_mut(&allocation.pool).expect("an allocation has its pool").room;
            allocation.nested = !room.take(inside - room.base, room::rounded(allocation.size.get()).unwrap_or(0));
        }
    }

    /// Whether an address is the start of an allocation of a pool.
    pub(in crate::process) fn is_pooled(&self, ptr: DevicePtr) -> bool {
        self.pools.allocations.contains_key(&ptr.get())
    }

    /// `cuMemFree` of memory of a pool, after the work has ended.
    pub(in crate::process) fn free_pooled_now(&mut self, outside: &mut Outside<'_>, ptr: DevicePtr) -> Result<()> {
        self.note_shared_free(outside, ptr)?;
        let pool = self.free_pooled(ptr.get(), None);
        self.settle(outside, pool)
    }

    /// Lets go what a pool has beyond its threshold.
    fn settle(&mut self, outside: &mut Outside<'_>, pool: u64) -> Result<()> {
        let state = &self.pools.all[&pool];
        // What was freed last must have been seen through (trace pools/busy, pool-gone-idle-other-sync 12).
        if state.destroyed && state.room.is_empty() && state.room.unseen().next().is_none() {
            return self.remove_pool(outside, pool);
        }
        let keep = if state.destroyed || state.is_imported() { 0 } else { state.release_threshold / UNIT * UNIT };
        self.release(outside, pool, keep)
    }

    /// The end of a pool: of a destroyed one, when nothing of it is allocated.
    pub(super) fn remove_pool(&mut self, outside: &mut Outside<'_>, pool: u64) -> Result<()> {
        let numbers: Vec<u64> = self.pools.all[&pool].room.units().map(|(number, _)| number).collect();
        numbers.into_iter().try_for_each(|number| self.release_unit(outside, pool, number))?;
        if let Some(state) = self.pools.all.remove(&pool) {
            self.space.remove(state.room.base);
            self.pools.gone.insert(pool);
            self.close_shared(outside, state.shared)?;
        }
        Ok(())
    }

    /// `cuStreamSynchronize` has returned.
    ///
    /// # Errors
    /// If the machine cannot be told.
    pub fn stream_was_seen(&mut self, outside: &mut Outside<'_>, thread: ThreadId, stream: Stream) -> Result<()> {
        if self.has_nothing_to_let_go() {
            return Ok(());
        }
        let Ok(key) = self.stream_key(thread, stream) else { return Ok(()) };
        let seen = self.behind_stream(key);
        self.see(outside, seen)
    }

    pub(in crate::process) fn behind_stream(&self, key: StreamKey) -> BTreeSet<Ticket> {
        let with = if key.stream == 0 { self.blocking_streams(key.context) } else { Vec::new() };
        self.frees.behind_streams(|other| other == key || with.contains(&other))
    }

    /// The streams of a context that wait for its null stream and it for them.
    fn blocking_streams(&self, context: u64) -> Vec<StreamKey> {
        let blocking = self.streams.iter().filter(|(_, state)| state.context == context && state.blocking);
        blocking.map(|(stream, _)| StreamKey { context, stream: *stream }).collect()
    }

    /// A stream goes, and with it what it has freed; what its work may still use goes when the context is synchronised.
    pub(in crate::process) fn stream_is_going(&mut self, outside: &mut Outside<'_>, key: StreamKey) -> Result<()> {
        if self.frees.is_empty() {
            return Ok(());
        }
        let seen = self.frees.behind_streams(|other| other == key);
        self.see(outside, seen)
    }

    /// `cuEventSynchronize` has returned.
    ///
    /// # Errors
    /// If the machine cannot be told.
    pub fn event_was_seen(&mut self, outside: &mut Outside<'_>, event: Event) -> Result<()> {
        if self.has_nothing_to_let_go() {
            return Ok(());
        }
        let seen = self.frees.behind_event(event.as_raw());
        self.see(outside, seen)
    }

    /// `cuCtxSynchronize` of a thread's context has returned.
    ///
    /// # Errors
    /// If the machine cannot be told.
    pub fn context_was_seen(&mut self, outside: &mut Outside<'_>, thread: ThreadId) -> Result<()> {
        match self.ctx_get_current(thread) {
            Some(context) => self.see_context(outside, context),
            None => Ok(()),
        }
    }

    /// All work of a context has ended and was waited for.
    pub(in crate::process) fn see_context(&mut self, outside: &mut Outside<'_>, context: u64) -> Result<()> {
        if self.has_nothing_to_let_go() {
            return Ok(());
        }
        let seen = self.frees.behind_streams(|key| key.context == context);
        self.see(outside, seen)
    }

    /// The usual case: no synchronisation has anything to do here.
    fn has_nothing_to_let_go(&self) -> bool {
        self.frees.is_empty() && self.pools.all.is_empty()
    }

    /// A synchronisation has seen frees through. Every pool is then cut down to its threshold.
    fn see(&mut self, outside: &mut Outside<'_>, mut seen: BTreeSet<Ticket>) -> Result<()> {
        seen.retain(|ticket| self.work_before(*ticket).is_none());
        self.frees.forget(&seen);
        self.lucky.see(&seen);
        let freed = |ticket: Option<Ticket>| ticket.is_some_and(|ticket| seen.contains(&ticket));
        let legacy: Vec<u64> =
            self.legacy.iter().filter(|(_, allocation)| freed(allocation.freed)).map(|(start, _)| *start).collect();
        legacy.into_iter().try_for_each(|start| self.free_legacy(outside, start))?;
        let pools: Vec<u64> = self.pools.all.keys().copied().collect();
        for pool in pools {
            self.pool_mut(pool).room.see(&seen);
            self.settle(outside, pool)?;
        }
        Ok(())
    }

    /// Work that is queued on a stream comes after frees of others.
    pub(in crate::process) fn order_frees(&mut self, key: StreamKey, blocking: bool) {
        if self.frees.is_empty() {
            return;
        }
        if key.stream == 0 {
            let others = self.blocking_streams(key.context);
            self.frees.follow(key, others);
        } else if blocking {
            self.frees.follow(key, [StreamKey { context: key.context, stream: 0 }]);
        }
    }
}

/// The real driver accepts it and then hangs in the next synchronisation.
pub(in crate::process) fn freed_twice(ptr: DevicePtr) -> DriverError {
    DriverError::NotModelled {
        what: format!(
            "{ptr} of cuMemAlloc freed twice, first by cuMemFreeAsync: the driver hangs at the next synchronisation"
        ),
    }
}
