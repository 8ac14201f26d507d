//! Pools between processes: export and import of pools, and of pointers into them.

use peermap_driver::{Argument, ByteSize, DevicePtr, DriverError, HandleType, MemPool, MemPoolPtrExportData, Result};

use super::room::{self, Unit};
use super::{Origin, Outside, PoolAllocation, Process};
use crate::process::fabric::{Refusals, out_of_reach};
use crate::process::physical::{name_of, unexpected};
use crate::process::space::RangeKind;
use crate::rules;
use crate::wire::{Answer, Ask, PoolId, PoolUnit};

impl Process {
    /// `cuMemPoolExportToShareableHandle`: what the machine made. A descriptor travels beside the answer.
    ///
    /// # Errors
    /// POOL-1, POOL-2, POOL-18, POOL-19, POOL-26.
    pub fn mem_pool_export_to_shareable_handle(
        &mut self,
        outside: &mut Outside<'_>,
        pool: MemPool,
        handle_type: HandleType,
        flags: u64,
    ) -> Result<Answer> {
        let state = self.own_pool(pool)?;
        let (asked, place, site) = (state.handle_types, state.place, state.site);
        let single = matches!(handle_type, HandleType::POSIX_FILE_DESCRIPTOR | HandleType::FABRIC);
        if flags != 0 || !single || !asked.contains(handle_type) {
            let facts: [(&str, &dyn Argument); 3] =
                [("handle_type", &handle_type), ("requested", &asked), ("flags", &flags)];
            return Err(rules::POOL_18.refuse(&facts, Some(site)));
        }
        let refusals = Refusals { no_channel: &rules::POOL_19, not_supported: &rules::POOL_26 };
        self.check_fabric(place, asked, &refusals, ("pool", &pool), Some(site))?;
        let shared = self.share_pool(outside, pool.as_raw())?;
        outside.machine.ask(match handle_type {
            HandleType::FABRIC => Ask::ExportPoolFabric { pool: shared },
            _ => Ask::ExportPoolDescriptor { pool: shared, site: self.site },
        })
    }

    /// What a pool of this process is to others.
    fn share_pool(&mut self, outside: &mut Outside<'_>, pool: u64) -> Result<PoolId> {
        if let Some(shared) = self.pools.all[&pool].shared {
            return Ok(shared);
        }
        let place = self.pools.all[&pool].place;
        match outside.machine.ask(Ask::SharePool { place, site: self.site })? {
            Answer::Pool { pool: shared, .. } => {
                self.pool_mut(pool).shared = Some(shared);
                Ok(shared)
            }
            other => Err(unexpected(&other)),
        }
    }

    /// `cuMemPoolImportFromShareableHandle`: the raw value of the pool, the same one each time.
    ///
    /// # Errors
    /// POOL-20 to POOL-22, POOL-27, FABRIC-1 to FABRIC-3.
    pub fn mem_pool_import_from_shareable_handle(
        &mut self,
        outside: &mut Outside<'_>,
        descriptor: Option<i32>,
        fabric: Option<&[u8]>,
        handle_type: HandleType,
        flags: u64,
    ) -> Result<u64> {
        let known = matches!(handle_type, HandleType::POSIX_FILE_DESCRIPTOR | HandleType::WIN32 | HandleType::FABRIC);
        let number = descriptor.unwrap_or(-1);
        if flags != 0 || !known || (descriptor == Some(0) && rules::POOL_20.is_on()) {
            let facts: [(&str, &dyn Argument); 3] =
                [("descriptor", &number), ("handle_type", &handle_type), ("flags", &flags)];
            return Err(rules::POOL_20.refuse(&facts, None));
        }
        let ask = match handle_type {
            HandleType::FABRIC => Ask::ImportPoolFabric { handle: fabric.map(<[u8]>::to_vec).unwrap_or_default() },
            HandleType::POSIX_FILE_DESCRIPTOR => Ask::ImportPoolDescriptor,
            _ => return Err(rules::POOL_21.refuse(&[("handle_type", &handle_type)], None)),
        };
        match outside.machine.ask(ask)? {
            Answer::Pool { pool, place } => Ok(self.imported_pool(pool, place)),
            Answer::NotExported => Err(rules::POOL_22.refuse(&[("descriptor", &number)], None)),
            Answer::Apart(apart) => Err(out_of_reach(apart)),
            Answer::OtherKind => Err(rules::POOL_27.refuse(&[("descriptor", &number)], None)),
            other => Err(unexpected(&other)),
        }
    }

    fn imported_pool(&mut self, shared: PoolId, place: crate::wire::Place) -> u64 {
        let known = self.pools.all.iter_mut().find_map(|(raw, state)| match &mut state.origin {
            Origin::Imported(opens) if state.shared == Some(shared) => Some((*raw, opens)),
            _ => None,
        });
        if let Some((raw, opens)) = known {
            *opens += 1;
            return raw;
        }
        let pool = self.new_pool(Origin::Imported(1), place, HandleType::NONE);
        self.pool_mut(pool).shared = Some(shared);
        pool
    }

    /// `cuMemPoolExportPointer`.
    ///
    /// # Errors
    /// POOL-23, HANDLE-3.
    pub fn mem_pool_export_pointer(
        &mut self,
        outside: &mut Outside<'_>,
        ptr: DevicePtr,
    ) -> Result<MemPoolPtrExportData> {
        let refuse = |around| Err(rules::POOL_23.refuse(&[("ptr", &ptr)], around));
        let Some(allocation) = self.pools.allocations.get(&ptr.get()).copied() else {
            return refuse(self.pooled_at(ptr).map(|(_, allocation)| allocation.site));
        };
        let state = &self.pools.all[&allocation.pool];
        if state.is_imported() {
            return refuse(Some(state.site));
        }
        let Some(shared) = state.shared else {
            let crashes = state.handle_types == HandleType::FABRIC;
            let rule = if crashes { &rules::HANDLE_3 } else { &rules::POOL_23 };
            let facts: [(&str, &dyn Argument); 1] = [("ptr", &ptr)];
            return Err(if crashes {
                rule.crash(&facts, Some(state.site))
            } else {
                rule.refuse(&facts, Some(state.site))
            });
        };
        let offset = ptr.get() - state.room.base;
        let needed = room::rounded(allocation.size.get()).unwrap_or(0);
        let units = state.room.units_of(offset, needed).map(|(number, unit)| (number, unit.alloc)).collect();
        let ask = Ask::ExportPoolPointer {
            pool: shared,
            offset,
            size: allocation.size,
            bytes: ByteSize::new(state.room.bytes),
            units,
        };
        match outside.machine.ask(ask)? {
            Answer::PoolPointer(name) => name_of(name).map(MemPoolPtrExportData),
            other => Err(unexpected(&other)),
        }
    }

    /// `cuMemPoolImportPointer`. What is imported already keeps its address, and sees the memory that is there now.
    ///
    /// # Errors
    /// POOL-1, POOL-24.
    pub fn mem_pool_import_pointer(
        &mut self,
        outside: &mut Outside<'_>,
        pool: MemPool,
        share_data: &MemPoolPtrExportData,
    ) -> Result<DevicePtr> {
        let state = self.pool(pool)?;
        let site = state.site;
        let refuse = || rules::POOL_24.refuse(&[("pool", &pool)], Some(site));
        let Some(shared) = state.shared.filter(|_| state.is_imported()) else { return Err(refuse()) };
        let ask = Ask::ImportPoolPointer { pool: shared, name: share_data.0.to_vec(), site: self.site };
        let (offset, size, bytes, units) = match outside.machine.ask(ask)? {
            Answer::PoolAllocation { offset, size, bytes, units } => (offset, size, bytes.get(), units),
            Answer::NotExported => return Err(refuse()),
            other => return Err(unexpected(&other)),
        };
        let raw = pool.as_raw();
        if self.pools.all[&raw].room.base == 0 {
            let base = self.place_apart(bytes, RangeKind::Pool).ok_or_else(|| DriverError::Host {
                what: "no simulated addresses are left for an imported pool".to_owned(),
            })?;
            self.pool_mut(raw).room.open(base, bytes);
        }
        let (site, state) = (self.site, self.pool_mut(raw));
        let start = state.room.base + offset;
        let is_free = state.room.take(offset, room::rounded(size.get()).unwrap_or(0));
        if !is_free && !self.pools.allocations.contains_key(&start) && !self.is_inside_import(start, size) {
            let what = "an import of memory that is partly what this process still has of the same pool".to_owned();
            return Err(DriverError::NotModelled { what });
        }
        // What begins where an import is open is that import, however large it is (trace pools/busy, pool-import-nested 45).
        let imported = PoolAllocation { size, pool: raw, nested: !is_free, site };
        self.pools.allocations.entry(start).or_insert(imported);
        units.into_iter().try_for_each(|unit| self.take_unit(outside, raw, &unit))?;
        Ok(DevicePtr::new(start))
    }

    /// Whether a range is part of memory that was imported and not freed yet.
    fn is_inside_import(&self, start: u64, size: ByteSize) -> bool {
        let around = self.pooled_at(DevicePtr::new(start));
        around.is_some_and(|(first, open)| start + size.get() <= first + open.size.get())
    }

    /// Lets an imported pool have a unit, in place of what it had there.
    fn take_unit(&mut self, outside: &mut Outside<'_>, pool: u64, unit: &PoolUnit) -> Result<()> {
        let before = self.pools.all[&pool].room.unit(unit.number);
        let now = Unit { alloc: unit.alloc, backing: unit.backing };
        if before == Some(now) {
            return Ok(());
        }
        self.add_unit(outside, pool, unit.number, now);
        match before {
            Some(before) => self.let_go_unit(outside, before.alloc),
            None => Ok(()),
        }
    }

    /// Notes the free of memory that another process still has imported.
    pub(super) fn note_shared_free(&mut self, outside: &mut Outside<'_>, ptr: DevicePtr) -> Result<()> {
        let Some(allocation) = self.pools.allocations.get(&ptr.get()).copied() else { return Ok(()) };
        let state = &self.pools.all[&allocation.pool];
        let Some(pool) = state.shared else { return Ok(()) };
        let offset = ptr.get() - state.room.base;
        if let Answer::StillOpen { site } = outside.machine.ask(Ask::FreePoolPointer { pool, offset })? {
            let facts: [(&str, &dyn Argument); 2] = [("ptr", &ptr), ("size", &allocation.size)];
            self.note_misuse(&rules::POOL_28, &facts, Some(site));
        }
        Ok(())
    }

    /// A pool is no longer what it was to other processes, unless this process has it twice: its own, imported.
    pub(super) fn close_shared(&self, outside: &mut Outside<'_>, shared: Option<PoolId>) -> Result<()> {
        let Some(pool) = shared else { return Ok(()) };
        if self.pools.all.values().any(|state| state.shared == Some(pool)) {
            return Ok(());
        }
        outside.machine.ask(Ask::ClosePool { pool }).map(|_| ())
    }
}
