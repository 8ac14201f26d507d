//! What the driver takes of a device's memory for itself: contexts and streams live there too.

use peermap_driver::{ByteSize, MemInfo};

use super::{Machine, MachineError, TEAM_ARENA};
use crate::wire::{Answer, Place, ProcessId};

impl Machine {
    /// The free memory of an arena.
    pub(super) fn free_in(&self, arena: u16) -> u64 {
        if arena == TEAM_ARENA {
            return self.switches.free();
        }
        let number = usize::from(arena);
        let free = self.arenas[number].free();
        let base = if number < self.profile.devices.len() { self.profile.driver_memory.device.get() } else { 0 };
        let taken = self.for_driver.iter().filter(|((_, device), _)| *device == arena).map(|(_, bytes)| bytes.get());
        taken.fold(free.saturating_sub(base), u64::saturating_sub)
    }

    pub(super) fn mem_info(&self, device: u16) -> Result<Answer, MachineError> {
        let arena = self.arena_of(Place::Device(device))?;
        let total = ByteSize::new(self.arenas[usize::from(arena)].capacity());
        Ok(Answer::MemInfo(MemInfo { free: ByteSize::new(self.free_in(arena)), total }))
    }

    pub(super) fn take_for_driver(
        &mut self,
        process: ProcessId,
        device: u16,
        bytes: ByteSize,
    ) -> Result<Answer, MachineError> {
        let free = self.free_in(self.arena_of(Place::Device(device))?);
        if bytes.get() > free {
            return Ok(Answer::OutOfMemory { free: ByteSize::new(free) });
        }
        let taken = self.for_driver.entry((process, device)).or_default();
        *taken = ByteSize::new(taken.get() + bytes.get());
        Ok(Answer::Done)
    }

    pub(super) fn give_back_of_driver(&mut self, process: ProcessId, device: u16, bytes: ByteSize) -> Answer {
        if let Some(taken) = self.for_driver.get_mut(&(process, device)) {
            *taken = ByteSize::new(taken.get().saturating_sub(bytes.get()));
        }
        Answer::Done
    }
}
