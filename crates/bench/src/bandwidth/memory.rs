//! Memory of a device that is worked on, by how it came to its addresses.

use std::os::fd::AsFd;

use peermap_driver::{AccessDesc, ByteSize, DevicePtr, HandleType, OsHandle};

use crate::error::BenchError;
use crate::owned::{Allocated, Mapped, Physical};
use crate::rig::Rig;

/// How memory came to its addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryKind {
    /// Made and mapped by this process.
    Mapped,
    /// Exported, imported again, and mapped by the new handle.
    Imported,
    /// From `cuMemAlloc`.
    Allocated,
}

impl MemoryKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Mapped, Self::Imported, Self::Allocated];

    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mapped => "mapped",
            Self::Imported => "imported",
            Self::Allocated => "cuMemAlloc",
        }
    }
}

/// Memory of the first device; what it is made of goes with it.
pub(super) enum Memory<'d> {
    Mapped(Mapped<'d>),
    Imported { mapped: Mapped<'d>, _original: Physical<'d> },
    Allocated(Allocated<'d>),
}

impl<'d> Memory<'d> {
    pub(super) fn new(rig: &'d Rig<'_>, size: ByteSize, kind: MemoryKind) -> Result<Self, BenchError> {
        let driver = rig.driver;
        if kind == MemoryKind::Allocated {
            return Ok(Self::Allocated(Allocated::new(driver, size)?));
        }
        let whole = size.checked_next_multiple_of(rig.granularity()?).unwrap_or(size);
        let physical = Physical::create(driver, whole, &rig.memory_of(0))?;
        let rights: Vec<AccessDesc> = Self::rights(rig);
        if kind == MemoryKind::Mapped {
            return Ok(Self::Mapped(Mapped::new(driver, physical, &rights)?));
        }
        let way = HandleType::POSIX_FILE_DESCRIPTOR;
        let exported = driver.mem_export_to_shareable_handle(physical.handle, way, 0)?;
        let Some(descriptor) = exported.into_posix_fd() else {
            return Err(BenchError::NotHere("the export is no descriptor".to_owned()));
        };
        let imported = driver.mem_import_from_shareable_handle(OsHandle::Fd(descriptor.as_fd()), way)?;
        let mapped = Mapped::new(driver, Physical::of(driver, imported, whole), &rights)?;
        Ok(Self::Imported { mapped, _original: physical })
    }

    /// The first device, and the one that reaches it, if there is one.
    fn rights(rig: &Rig<'_>) -> Vec<AccessDesc> {
        let devices = std::iter::once(0).chain(rig.peer());
        devices.map(|index| AccessDesc::read_write(rig.devices[index].0.0)).collect()
    }

    pub(super) fn ptr(&self) -> DevicePtr {
        match self {
            Self::Mapped(mapped) | Self::Imported { mapped, .. } => mapped.range.ptr,
            Self::Allocated(allocated) => allocated.ptr,
        }
    }
}
