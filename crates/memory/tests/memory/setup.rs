//! What the tests have in common: a small device, and ways to look at it.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use nix::sys::stat::fstat;
use peermap_memory::{Arena, Backing, Budget, Fault, FaultKind, Rights, Table, View};

pub const PAGE: u64 = 4096;
pub const SMALL: u64 = 64 << 10;
pub const LARGE: u64 = 2 << 20;
pub const BASE: u64 = 0x7000_0000_0000;

pub fn budget(limit: u64) -> Arc<Budget> {
    Arc::new(Budget::create(limit).unwrap())
}

pub fn arena(index: u8, granules: u64, granule_bytes: u64, budget: &Arc<Budget>) -> Arc<Arena> {
    Arc::new(Arena::create(index, granules * granule_bytes, granule_bytes, budget.clone()).unwrap())
}

/// The same arena and the same budget as another OS process would open them.
pub fn reopened(arena: &Arena, budget: &Budget) -> Arc<Arena> {
    let budget = Budget::from_fd(duplicate(budget)).unwrap();
    let descriptors = duplicates(arena);
    Arc::new(Arena::from_fds(arena.index(), descriptors, arena.granule_bytes(), Arc::new(budget)).unwrap())
}

pub fn duplicates(arena: &Arena) -> [OwnedFd; 2] {
    arena.descriptors().map(|descriptor| descriptor.try_clone_to_owned().unwrap())
}

pub fn duplicate(budget: &Budget) -> OwnedFd {
    std::os::fd::AsFd::as_fd(budget).try_clone_to_owned().unwrap()
}

/// A table of `granules` granules at `BASE`, of which the first `mapped` show arena 0 from its start on.
pub fn table(granules: u64, mapped: u64, granule_bytes: u64) -> Table {
    let table = Table::new(BASE, granules * granule_bytes, granule_bytes).unwrap();
    table.set(BASE, mapped, Backing { arena: 0, first_granule: 0 }, Rights::READ_WRITE);
    table
}

/// The host memory that the bytes of an arena take.
pub fn allocated(arena: &Arena) -> u64 {
    512 * fstat(arena.descriptors()[0]).unwrap().st_blocks as u64
}

pub fn bytes(view: &View<'_>, address: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0xEE; len];
    view.read(address, &mut bytes).unwrap();
    bytes
}

pub fn fault<T>(address: u64, kind: FaultKind) -> Result<T, Fault> {
    Err(Fault { address, kind })
}
