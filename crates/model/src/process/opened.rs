//! Legacy memory of other processes: `cuIpcOpenMemHandle`, `cuIpcCloseMemHandle`.

use peermap_driver::{ByteSize, CallSite, DevicePtr, IpcMemHandle, Result};

use super::physical::unexpected;
use super::query::Pointee;
use super::{Outside, Process, ThreadId};
use crate::rules;
use crate::wire::{AllocId, AllocationRecord, Answer, Ask, Place, Rights};

/// The flag that the driver wants: peer access is enabled where it is needed (`CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`).
const LAZY_PEER_ACCESS: u32 = 1;

/// Memory of another process, opened in one context.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenedLegacy {
    /// As its owner asked for.
    pub(super) size: ByteSize,
    /// Whole granules.
    pub(super) mapped: ByteSize,
    pub(super) context: u64,
    alloc: AllocId,
    place: Place,
    /// How much more often it was opened than closed.
    opens: u32,
    pub(super) site: CallSite,
}

impl OpenedLegacy {
    pub(super) fn pointee(&self, start: u64) -> Pointee {
        Pointee {
            context: self.context,
            start,
            range: (start, self.size.get()),
            mapping: (start, self.size.get()),
            place: self.place,
            buffer: self.alloc.0 + 1,
            legacy: false,
            handle_types: 0,
            gpu_direct_rdma: true,
            rights: Rights::ReadWrite,
        }
    }
}

impl Process {
    /// The opened memory that holds an address, with its start.
    pub(super) fn opened_at(&self, address: DevicePtr) -> Option<(u64, &OpenedLegacy)> {
        let (start, opened) = self.opened.range(..=address.get()).next_back()?;
        (address.get() < start + opened.mapped.get()).then_some((*start, opened))
    }

    /// `cuIpcOpenMemHandle`.
    ///
    /// # Errors
    /// LEGACY-2, FAULT-1, CTX-1, CTX-3, LEGACY-3 to LEGACY-6, LEGACY-8.
    pub fn ipc_open_mem_handle(
        &mut self,
        outside: &mut Outside<'_>,
        thread: ThreadId,
        handle: &IpcMemHandle,
        flags: u32,
    ) -> Result<DevicePtr> {
        if flags & LAZY_PEER_ACCESS == 0 && rules::LEGACY_2.is_on() {
            return Err(rules::LEGACY_2.refuse(&[("flags", &flags)], None));
        }
        let context = self.current(thread)?;
        let (record, size) = match outside.machine.ask(Ask::ImportLegacy { handle: handle.0.to_vec() })? {
            Answer::LegacyAllocation { record, size } => (record, size),
            Answer::OwnHandle => return Err(rules::LEGACY_3.refuse(&[], None)),
            Answer::Gone => return Err(rules::LEGACY_4.refuse(&[], None)),
            Answer::Freed => return Err(rules::LEGACY_5.refuse(&[], None)),
            other => return Err(unexpected(&other)),
        };
        if let Some((start, opened)) = self.opened.iter_mut().find(|(_, opened)| opened.alloc == record.alloc) {
            if opened.context != context && rules::LEGACY_6.is_on() {
                return Err(rules::LEGACY_6.refuse(&[], Some(opened.site)));
            }
            opened.opens += 1;
            return Ok(DevicePtr::new(*start));
        }
        self.open_here(outside, context, &record, size)
    }

    fn open_here(
        &mut self,
        outside: &mut Outside<'_>,
        context: u64,
        record: &AllocationRecord,
        size: ByteSize,
    ) -> Result<DevicePtr> {
        let placed = self.place_legacy(record.size);
        let Some(start) = placed else {
            outside.machine.ask(Ask::Drop { alloc: record.alloc })?;
            return Err(rules::LEGACY_8.refuse(&[("size", &size)], None));
        };
        let ordinal = self.ordinal_of_context(context);
        outside.tables.set(ordinal, start, record.size, record.backing, Rights::ReadWrite);
        let opened = OpenedLegacy {
            size,
            mapped: record.size,
            context,
            alloc: record.alloc,
            place: record.place,
            opens: 1,
            site: self.site,
        };
        self.opened.insert(start, opened);
        Ok(DevicePtr::new(start))
    }

    /// `cuIpcCloseMemHandle`. The memory goes from this process with the last close.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, LEGACY-7.
    pub fn ipc_close_mem_handle(&mut self, outside: &mut Outside<'_>, thread: ThreadId, ptr: DevicePtr) -> Result<()> {
        self.current(thread)?;
        let Some(opened) = self.opened.get_mut(&ptr.get()) else {
            let around = self.opened_at(ptr).map(|(_, opened)| opened.site);
            return Err(rules::LEGACY_7.refuse(&[("ptr", &ptr)], around));
        };
        opened.opens -= 1;
        if opened.opens == 0 { self.close_opened(outside, ptr.get()) } else { Ok(()) }
    }

    fn close_opened(&mut self, outside: &mut Outside<'_>, start: u64) -> Result<()> {
        let Some(opened) = self.opened.remove(&start) else { return Ok(()) };
        for ordinal in 0..self.visible.len() {
            outside.tables.clear(ordinal, start, opened.mapped);
        }
        self.space.remove(start);
        outside.machine.ask(Ask::Drop { alloc: opened.alloc }).map(|_| ())
    }

    /// Closes what a context that goes has open.
    pub(super) fn close_legacy_of(&mut self, outside: &mut Outside<'_>, context: u64) -> Result<()> {
        let starts: Vec<u64> =
            self.opened.iter().filter(|(_, opened)| opened.context == context).map(|(start, _)| *start).collect();
        starts.into_iter().try_for_each(|start| self.close_opened(outside, start))
    }
}
