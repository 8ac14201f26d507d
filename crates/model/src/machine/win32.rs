//! NT handles: each process has a table of its own, and a handle keeps its memory until it is closed or its process ends.

use peermap_driver::Win32Handle;

use super::{Machine, MachineError};
use crate::wire::{AllocId, Answer, ProcessId};

impl Machine {
    /// The first handle of a table, and how far the next is. Windows counts in fours.
    const STEP: u64 = 4;

    pub(super) fn export_win32(&mut self, process: ProcessId, alloc: AllocId) -> Result<Answer, MachineError> {
        self.held_by(process, alloc)?;
        Ok(self.enter_win32(process, alloc))
    }

    pub(super) fn import_win32(&mut self, process: ProcessId, handle: Win32Handle) -> Answer {
        let alloc = self.win32.get(&(process, handle)).copied();
        self.import(process, alloc)
    }

    pub(super) fn duplicate_win32(&mut self, process: ProcessId, handle: Win32Handle, to: ProcessId) -> Answer {
        match self.win32.get(&(process, handle)).copied() {
            Some(alloc) if self.processes.contains_key(&to) => self.enter_win32(to, alloc),
            _ => Answer::NotExported,
        }
    }

    pub(super) fn close_win32(&mut self, process: ProcessId, handle: Win32Handle) -> Answer {
        match self.win32.remove(&(process, handle)) {
            Some(alloc) => {
                self.free_if_unheld(alloc);
                Answer::Done
            }
            None => Answer::NotExported,
        }
    }

    /// A process has gone, and its table with it.
    pub(super) fn drop_win32_table(&mut self, process: ProcessId) {
        for (_, alloc) in self.win32.extract_if(.., |(owner, _), _| *owner == process).collect::<Vec<_>>() {
            self.free_if_unheld(alloc);
        }
    }

    /// Puts an allocation into the first free place of a table.
    fn enter_win32(&mut self, owner: ProcessId, alloc: AllocId) -> Answer {
        let mut handle = Win32Handle(Self::STEP);
        while self.win32.contains_key(&(owner, handle)) {
            handle.0 += Self::STEP;
        }
        self.win32.insert((owner, handle), alloc);
        Answer::Win32(handle)
    }
}
