//! What multicast addresses stand for.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::granule::GranuleSize;
use crate::mapping::Mapping;
use crate::{Backing, Entry, MemoryError, Part, Rights, file};

/// The device is of the team and has no memory there. No entry of memory has this bit.
const UNBOUND: u64 = 1 << 63;

/// What a granule of a team stands for on one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Nothing: the device is not of the team.
    Nothing,
    /// Nothing yet: the device is of the team and has no memory there.
    Unbound,
    /// Memory, from this granule on.
    Memory(Backing),
}

/// For each granule of all teams and each device which granule of memory it stands for.
///
/// All OS processes that hold the descriptor share it, so that what one binds the others reach. It is sparse: a machine whose
/// programs make no team takes no memory for it.
///
/// # Units
///
/// Granules of teams are counted from 0, as those of an arena.
#[derive(Debug)]
pub struct Switches {
    file: OwnedFd,
    entries: Mapping,
    granules: usize,
    devices: usize,
}

impl Switches {
    /// Teams of `bytes` in all, for so many devices, with nothing bound.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Granule`] and [`MemoryError::Size`] for sizes that do not fit together; [`MemoryError::Create`] and
    /// [`MemoryError::Map`] if the kernel refuses.
    pub fn create(bytes: u64, granule_bytes: u64, devices: usize) -> Result<Self, MemoryError> {
        let granules = GranuleSize::new(granule_bytes)?.count(Part::Switches, 0, bytes)?;
        let file = file::create(Part::Switches, "peermap-switches", size(granules, devices))?;
        Self::map(file, granules, devices)
    }

    /// Opens those of another OS process, made with the same sizes, from their [`descriptor`](Self::descriptor).
    ///
    /// # Errors
    ///
    /// [`MemoryError::Inspect`], [`MemoryError::Unsealed`] and [`MemoryError::WrongSize`] if it is something else;
    /// [`MemoryError::Granule`], [`MemoryError::Size`] and [`MemoryError::Map`] as for [`Switches::create`].
    pub fn from_fd(file: OwnedFd, bytes: u64, granule_bytes: u64, devices: usize) -> Result<Self, MemoryError> {
        let granules = GranuleSize::new(granule_bytes)?.count(Part::Switches, 0, bytes)?;
        file::expect_size(Part::Switches, &file, size(granules, devices))?;
        Self::map(file, granules, devices)
    }

    fn map(file: OwnedFd, granules: u64, devices: usize) -> Result<Self, MemoryError> {
        let bytes = size(granules, devices);
        let refused = |source| MemoryError::Map { part: Part::Switches, bytes, source };
        let entries = Mapping::shared(file.as_fd(), bytes).map_err(refused)?;
        Ok(Self { file, entries, granules: granules as usize, devices })
    }

    /// What another OS process needs for [`Switches::from_fd`].
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Says what granules of a team stand for on a device from now on.
    ///
    /// # Panics
    ///
    /// If there are no such granules or no such device.
    pub fn wire(&self, first_granule: u64, granules: u64, device: u16, wire: Wire) {
        let first = match wire {
            Wire::Nothing => 0,
            Wire::Unbound => UNBOUND,
            Wire::Memory(backing) => Entry::new(backing, Rights::READ_WRITE).bits(),
        };
        let step = u64::from(matches!(wire, Wire::Memory(_)));
        for number in 0..granules {
            self.of(first_granule + number)[usize::from(device)].store(first + number * step, Ordering::Release);
        }
    }

    /// What a granule of a team stands for on a device. `Err`: the device is of the team and has no memory there.
    pub(crate) fn memory(&self, granule: u64, device: u16) -> Option<Result<Entry, NoMemory>> {
        match self.of(granule)[usize::from(device)].load(Ordering::Acquire) {
            UNBOUND => Some(Err(NoMemory)),
            bits => Entry::from_bits(bits).map(Ok),
        }
    }

    /// The devices of the team that a granule is of.
    pub(crate) fn team(&self, granule: u64) -> impl Iterator<Item = u16> {
        let entries = self.of(granule).iter().zip(0..);
        entries.filter(|(entry, _)| entry.load(Ordering::Acquire) != 0).map(|(_, device)| device)
    }

    /// The entries of a granule, by device.
    fn of(&self, granule: u64) -> &[AtomicU64] {
        let first = self.entries.start().cast::<AtomicU64>().as_ptr();
        // SAFETY: the mapping holds that many entries and lives as long as `self`; any bits are valid for atomics, through which
        // all OS processes access it.
        let all = unsafe { slice::from_raw_parts(first, self.granules * self.devices) };
        &all[granule as usize * self.devices..][..self.devices]
    }
}

/// A device of a team has no memory bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoMemory;

fn size(granules: u64, devices: usize) -> u64 {
    granules * devices as u64 * size_of::<AtomicU64>() as u64
}
