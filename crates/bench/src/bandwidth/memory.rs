//! Memory of a device that is worked on, by how it came to its addresses.

use std::os::fd::AsFd;

use peermap_driver::{AccessDesc, ByteSize, DevicePtr, Driver, HandleType, IpcMemHandle, OsHandle};

use crate::error::BenchError;
use crate::owned::{Allocated, Mapped, Physical};
use crate::partner::Pair;
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
    /// Opened by the legacy handle of another process.
    Opened,
}

impl MemoryKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Mapped, Self::Imported, Self::Allocated, Self::Opened];

    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mapped => "mapped",
            Self::Imported => "imported",
            Self::Allocated => "cuMemAlloc",
            Self::Opened => "opened",
        }
    }

    /// The driver that works on such memory, with a context on the first device that is current.
    ///
    /// # Errors
    /// If there is no other process to open it from.
    pub fn driver<'r>(self, rig: &'r Rig<'_>) -> Result<&'r dyn Driver, BenchError> {
        match self {
            Self::Opened => rig.pair()?.driver(),
            Self::Mapped | Self::Imported | Self::Allocated => Ok(rig.driver),
        }
    }
}

/// Memory that the first device works on; what it is made of goes with it.
pub(super) enum Memory<'d> {
    Mapped(Mapped<'d>),
    Imported { mapped: Mapped<'d>, _original: Physical<'d> },
    Allocated(Allocated<'d>),
    Opened(Opened<'d>),
}

impl<'d> Memory<'d> {
    /// Memory of the device `home`, with rights for the first one.
    pub(super) fn new(rig: &'d Rig<'_>, size: ByteSize, kind: MemoryKind, home: usize) -> Result<Self, BenchError> {
        let driver = rig.driver;
        match kind {
            MemoryKind::Allocated => return Ok(Self::Allocated(Allocated::new(driver, size)?)),
            MemoryKind::Opened => return Ok(Self::Opened(Opened::new(rig.pair()?, size, home)?)),
            MemoryKind::Mapped | MemoryKind::Imported => {}
        }
        let whole = size.checked_next_multiple_of(rig.granularity()?).unwrap_or(size);
        let physical = Physical::create(driver, whole, &rig.memory_of(home))?;
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

    /// Memory of the first device that such memory is copied to: of the same kind, where this process can make it.
    pub(super) fn target(rig: &'d Rig<'_>, size: ByteSize, kind: MemoryKind) -> Result<Self, BenchError> {
        match kind {
            MemoryKind::Opened => Ok(Self::Allocated(Allocated::new(kind.driver(rig)?, size)?)),
            MemoryKind::Mapped | MemoryKind::Imported | MemoryKind::Allocated => Self::new(rig, size, kind, 0),
        }
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
            Self::Opened(opened) => opened.ptr,
        }
    }
}

/// Memory of another process, opened by its legacy handle.
pub(super) struct Opened<'d> {
    pair: &'d Pair,
    driver: &'d dyn Driver,
    ptr: DevicePtr,
}

impl<'d> Opened<'d> {
    fn new(pair: &'d Pair, size: ByteSize, home: usize) -> Result<Self, BenchError> {
        let driver = pair.driver()?;
        let handle = pair.lend(size, home)?;
        match driver.ipc_open_mem_handle(&handle, IpcMemHandle::LAZY_ENABLE_PEER_ACCESS) {
            Ok(ptr) => Ok(Self { pair, driver, ptr }),
            Err(error) => {
                pair.take_back()?;
                Err(error.into())
            }
        }
    }
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        // Whoever measures has learnt of a failing driver from the call that mattered.
        drop(self.driver.ipc_close_mem_handle(self.ptr));
        drop(self.pair.take_back());
    }
}
