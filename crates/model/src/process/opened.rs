//! Legacy memory of other processes: `cuIpcOpenMemHandle`, `cuIpcCloseMemHandle`.

use peermap_driver::{ByteSize, CallSite, DevicePtr, IpcMemHandle, Result};

use super::physical::unexpected;
use super::query::Pointee;
use super::space::RangeKind;
use super::{Outside, Process, ThreadId};
use crate::rules;
use crate::wire::{AllocId, AllocationRecord, Answer, Ask, Place, Rights};

/// Memory of another process, opened in one context.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenedLegacy {
    /// As its owner asked for.
    pub(super) size: ByteSize,
    /// Whole granules.
    pub(super) mapped: ByteSize,
    pub(super) context: u64,
    handle: IpcMemHandle,
    alloc: AllocId,
    /// Which process made it, and where it lies.
    of: (u32, Place),
    /// How much more often it was opened than closed.
    opens: u32,
    pub(super) site: CallSite,
}

impl OpenedLegacy {
    /// What is known of its addresses, where this context is current.
    pub(super) fn pointee(&self, start: u64, place: Place, current: Option<u64>) -> Pointee {
        Pointee {
            context: self.context,
            start,
            range: (start, self.size.get()),
            mapping: (start, self.size.get()),
            place,
            buffer: self.alloc.0 + 1,
            legacy: false,
            handle_types: 0,
            gpu_direct_rdma: true,
            pool: 0,
            rights: Rights::ReadWrite,
            // Another context of its device may use it all the same (trace pools/busy, legacy-opened-attributes 17).
            reachable: current == Some(self.context),
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
        if flags & IpcMemHandle::LAZY_ENABLE_PEER_ACCESS == 0 && rules::LEGACY_2.is_on() {
            return Err(rules::LEGACY_2.refuse(&[("flags", &flags)], None));
        }
        let context = self.current(thread)?;
        if let Some(start) = self.open_again(context, handle)? {
            return Ok(start);
        }
        let (record, size) =
            match outside.machine.ask(Ask::ImportLegacy { handle: handle.0.to_vec(), site: self.site })? {
                Answer::LegacyAllocation { record, size } => (record, size),
                Answer::OwnHandle => return Err(rules::LEGACY_3.refuse(&[], None)),
                Answer::Gone => return Err(rules::LEGACY_4.refuse(&[], None)),
                Answer::Freed { site } => return Err(rules::LEGACY_5.refuse(&[], Some(site))),
                other => return Err(unexpected(&other)),
            };
        if let Some(site) = self.open_in_another_context(context, &record).filter(|_| rules::LEGACY_6.is_on()) {
            self.let_go_opened(outside, record.alloc)?;
            return Err(rules::LEGACY_6.refuse(&[], Some(site)));
        }
        self.open_here(outside, context, handle, &record, size)
    }

    /// The call with which another context of the device has opened memory of the same device and process.
    fn open_in_another_context(&self, context: u64, record: &AllocationRecord) -> Option<CallSite> {
        let ordinal = self.ordinal_of_context(context);
        let there = |opened: &&OpenedLegacy| {
            let elsewhere = opened.context != context && self.ordinal_of_context(opened.context) == ordinal;
            elsewhere && opened.of == (record.site.process, record.place)
        };
        self.opened.values().find(there).map(|opened| opened.site)
    }

    /// Memory that the process has open on the device is found without its owner, which may have freed it or left.
    fn open_again(&mut self, context: u64, handle: &IpcMemHandle) -> Result<Option<DevicePtr>> {
        let ordinal = self.ordinal_of_context(context);
        let here = |opened: &OpenedLegacy| self.ordinal_of_context(opened.context) == ordinal;
        let found =
            self.opened.iter().find(|(_, opened)| opened.handle == *handle && here(opened)).map(|(start, _)| *start);
        let Some((start, opened)) = found.and_then(|start| Some((start, self.opened.get_mut(&start)?))) else {
            return Ok(None);
        };
        if opened.context != context && rules::LEGACY_6.is_on() {
            return Err(rules::LEGACY_6.refuse(&[], Some(opened.site)));
        }
        opened.opens += 1;
        Ok(Some(DevicePtr::new(start)))
    }

    fn open_here(
        &mut self,
        outside: &mut Outside<'_>,
        context: u64,
        handle: &IpcMemHandle,
        record: &AllocationRecord,
        size: ByteSize,
    ) -> Result<DevicePtr> {
        let placed = self.place_apart(record.size.get(), RangeKind::Legacy);
        let Some(start) = placed else {
            self.let_go_opened(outside, record.alloc)?;
            return Err(rules::LEGACY_8.refuse(&[("size", &size)], None));
        };
        let ordinal = self.ordinal_of_context(context);
        outside.tables.set(ordinal, start, record.size, record.backing, Rights::ReadWrite);
        let opened = OpenedLegacy {
            size,
            mapped: record.size,
            context,
            handle: *handle,
            alloc: record.alloc,
            of: (record.site.process, record.place),
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
        self.let_go_opened(outside, opened.alloc)
    }

    /// Holds memory no longer, unless it is open on another device.
    fn let_go_opened(&self, outside: &mut Outside<'_>, alloc: AllocId) -> Result<()> {
        if self.opened.values().any(|opened| opened.alloc == alloc) {
            return Ok(());
        }
        outside.machine.ask(Ask::Drop { alloc }).map(|_| ())
    }

    /// Closes what a context that goes has open.
    pub(super) fn close_legacy_of(&mut self, outside: &mut Outside<'_>, context: u64) -> Result<()> {
        let starts: Vec<u64> =
            self.opened.iter().filter(|(_, opened)| opened.context == context).map(|(start, _)| *start).collect();
        starts.into_iter().try_for_each(|start| self.close_opened(outside, start))
    }
}
