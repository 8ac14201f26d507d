//! What a table says of one granule.

use crate::{Access, FaultKind};

const GRANULE_BITS: u32 = 40;
const READ: u64 = 1 << 48;
const WRITE: u64 = 1 << 49;
const PRESENT: u64 = 1 << 50;

/// As many granules as an entry can number.
pub(crate) const MAXIMUM_GRANULES: u64 = 1 << GRANULE_BITS;

/// What may be done with mapped memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rights {
    /// It may be read.
    pub read: bool,
    /// It may be written.
    pub write: bool,
}

impl Rights {
    /// Mapped, but not accessible.
    pub const NONE: Self = Self { read: false, write: false };
    /// Read only.
    pub const READ: Self = Self { read: true, write: false };
    /// Read and write.
    pub const READ_WRITE: Self = Self { read: true, write: true };
}

/// The memory behind a range of addresses: consecutive granules of one arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Backing {
    /// The arena's place in the slice of arenas that a view is made with.
    pub arena: u8,
    /// The granule behind the first address.
    pub first_granule: u64,
}

impl Backing {
    /// The arena of multicast addresses: its granules are those of [`Switches`](crate::Switches).
    pub const TEAMS: u8 = u8::MAX;
}

/// What a table says of one mapped granule: 40 bits of granule, 8 of arena, then read, write and present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry(u64);

impl Entry {
    #[inline]
    pub(crate) fn new(backing: Backing, rights: Rights) -> Self {
        let read = if rights.read { READ } else { 0 };
        let write = if rights.write { WRITE } else { 0 };
        let arena = u64::from(backing.arena) << GRANULE_BITS;
        Self(PRESENT | read | write | arena | backing.first_granule)
    }

    #[inline]
    pub(crate) fn from_bits(bits: u64) -> Option<Self> {
        (bits & PRESENT != 0).then_some(Self(bits))
    }

    #[inline]
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    /// The arena's place in the slice of arenas.
    #[inline]
    pub fn arena(self) -> u8 {
        (self.0 >> GRANULE_BITS) as u8
    }

    /// The granule within the arena.
    #[inline]
    pub fn granule(self) -> u64 {
        self.0 & (MAXIMUM_GRANULES - 1)
    }

    /// Whether it stands for memory of several devices.
    #[inline]
    pub(crate) fn is_of_a_team(self) -> bool {
        self.arena() == Backing::TEAMS
    }

    /// What may be done with the memory.
    pub fn rights(self) -> Rights {
        Rights { read: self.0 & READ != 0, write: self.0 & WRITE != 0 }
    }

    /// Whether this is the next granule of the same arena with the same rights.
    #[inline]
    pub(crate) fn follows(self, previous: Self) -> bool {
        self.0 == previous.0 + 1
    }

    /// Whether the rights allow the access.
    #[inline]
    pub(crate) fn allows(self, access: Access) -> Result<(), FaultKind> {
        let (read, write) = match access {
            Access::Read => (READ, 0),
            Access::Write => (0, WRITE),
            Access::ReadWrite => (READ, WRITE),
        };
        if self.0 & read != read {
            return Err(FaultKind::NoReadAccess);
        }
        if self.0 & write != write {
            return Err(FaultKind::NoWriteAccess);
        }
        Ok(())
    }
}
