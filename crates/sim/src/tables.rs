//! The page tables of a process's devices, as the model changes them.

use peermap_driver::ByteSize;
use peermap_memory::{Backing as MemoryBacking, Rights as MemoryRights, Table};
use peermap_model::{Backing, HOST_TABLE, PageTables, Rights};

/// The tables of one process: those of devices by ordinal, then that of the host.
pub(crate) struct Tables<'a>(pub(crate) &'a [Table]);

impl Tables<'_> {
    fn part(&self, ordinal: usize, address: u64, size: ByteSize) -> Option<(&Table, u64)> {
        let table = if ordinal == HOST_TABLE { self.0.last() } else { self.0.get(ordinal) }?;
        let room = (table.window_base() + table.window_bytes()).saturating_sub(address);
        // A mapping may hang over the end of what can be reserved; there is no simulated memory there to reach.
        Some((table, size.get().min(room) / table.granule_bytes()))
    }
}

impl PageTables for Tables<'_> {
    fn set(&mut self, ordinal: usize, address: u64, size: ByteSize, backing: Backing, rights: Rights) {
        let rights = match rights {
            Rights::None => MemoryRights::NONE,
            Rights::Read => MemoryRights::READ,
            Rights::ReadWrite => MemoryRights::READ_WRITE,
        };
        if let Some((table, granules)) = self.part(ordinal, address, size) {
            let arena = u8::try_from(backing.arena).expect("a profile has fewer than 255 devices and NUMA nodes");
            table.set(address, granules, MemoryBacking { arena, first_granule: backing.first_granule }, rights);
        }
    }

    fn clear(&mut self, ordinal: usize, address: u64, size: ByteSize) {
        if let Some((table, granules)) = self.part(ordinal, address, size) {
            table.clear(address, granules);
        }
    }
}
