//! What the virtual memory calls take and give: locations, properties, access, shareable handles.
//!
//! Types and flags are numbers with names, not closed enums: wrong values must be expressible, because a test wants to
//! see them refused.

use std::fmt;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use serde::{Deserialize, Serialize};

use crate::unit::ByteSize;

macro_rules! code {
    ($(#[$doc:meta])* $kind:ident($repr:ty) { $($(#[$value_doc:meta])* $name:ident = $code:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $kind(pub $repr);

        impl $kind {
            $($(#[$value_doc])* pub const $name: Self = Self($code);)*
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.0 {
                    $($code => f.write_str(stringify!($name)),)*
                    other => write!(f, "{other:#x}"),
                }
            }
        }

        impl fmt::Debug for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        }
    };
}

code! {
    /// Where memory lies (`CUmemLocationType`).
    LocationType(u32) {
        /// No place.
        INVALID = 0,
        /// A device, by its ordinal.
        DEVICE = 1,
        /// The host, wherever the driver likes.
        HOST = 2,
        /// A NUMA node of the host, by its number.
        HOST_NUMA = 3,
        /// The NUMA node of the calling thread.
        HOST_NUMA_CURRENT = 4,
    }
}

code! {
    /// How an allocation behaves (`CUmemAllocationType`).
    AllocationType(u32) {
        /// No type.
        INVALID = 0,
        /// Memory that does not move.
        PINNED = 1,
    }
}

code! {
    /// Ways to hand an allocation to another process (`CUmemAllocationHandleType`); as a request, a bit mask.
    HandleType(u32) {
        /// Not to be shared.
        NONE = 0,
        /// A file descriptor.
        POSIX_FILE_DESCRIPTOR = 1,
        /// An NT handle (Windows).
        WIN32 = 2,
        /// A D3DKMT handle (Windows).
        WIN32_KMT = 4,
        /// A fabric handle, good between the nodes of an IMEX domain.
        FABRIC = 8,
    }
}

impl HandleType {
    /// Whether every type of `other` is asked for.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both masks together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

code! {
    /// Compression of an allocation (`CUmemAllocationCompType`).
    CompressionType(u8) {
        /// Plain memory.
        NONE = 0,
        /// Compressible memory.
        GENERIC = 1,
    }
}

code! {
    /// Which granularity is asked for (`CUmemAllocationGranularity_flags`, `CUmulticastGranularity_flags`).
    GranularityOption(u32) {
        /// The least that works.
        MINIMUM = 0,
        /// The one that performs best.
        RECOMMENDED = 1,
    }
}

code! {
    /// Rights of a device on a mapping (`CUmemAccess_flags`).
    AccessFlags(u64) {
        /// No access.
        NONE = 0,
        /// Loads only.
        READ = 1,
        /// Loads and stores.
        READWRITE = 3,
    }
}

/// A place for memory (`CUmemLocation`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Location {
    /// What kind of place.
    pub kind: LocationType,
    /// Which one of its kind: the ordinal of a device, the number of a NUMA node.
    pub id: i32,
}

impl Location {
    /// A device of this process.
    #[must_use]
    pub const fn device(ordinal: i32) -> Self {
        Self { kind: LocationType::DEVICE, id: ordinal }
    }

    /// A NUMA node of the host.
    #[must_use]
    pub const fn host_numa(node: i32) -> Self {
        Self { kind: LocationType::HOST_NUMA, id: node }
    }
}

/// What an allocation is to be or is (`CUmemAllocationProp`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct AllocationProp {
    /// How it behaves.
    pub allocation_type: AllocationType,
    /// The ways it may be shared, a bit mask.
    pub requested_handle_types: HandleType,
    /// Where it lies.
    pub location: Location,
    /// Whether it is compressible.
    pub compression: CompressionType,
    /// Whether other devices of the bus may reach it directly (GPUDirect RDMA).
    pub gpu_direct_rdma: bool,
    /// Further uses, a bit mask.
    pub usage: u16,
    /// Whether security attributes are given, which a handle of Windows needs.
    pub win32_security_attributes: bool,
}

impl AllocationProp {
    /// Pinned memory of a device that can be shared in the given ways.
    #[must_use]
    pub const fn pinned_on(ordinal: i32, handle_types: HandleType) -> Self {
        Self {
            allocation_type: AllocationType::PINNED,
            requested_handle_types: handle_types,
            location: Location::device(ordinal),
            compression: CompressionType::NONE,
            gpu_direct_rdma: false,
            usage: 0,
            win32_security_attributes: false,
        }
    }
}

/// Rights that a place is to get (`CUmemAccessDesc`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct AccessDesc {
    /// Who gets them.
    pub location: Location,
    /// Which ones.
    pub flags: AccessFlags,
}

impl AccessDesc {
    /// Loads and stores for a device of this process.
    #[must_use]
    pub const fn read_write(ordinal: i32) -> Self {
        Self { location: Location::device(ordinal), flags: AccessFlags::READWRITE }
    }
}

/// A fabric handle (`CUmemFabricHandle`): 64 opaque bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FabricHandle(pub [u8; 64]);

/// An NT handle: a number that means something in the process's own table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Win32Handle(pub u64);

/// An exported allocation, as the exporter gets it.
#[derive(Debug)]
pub enum ShareableHandle {
    /// A file descriptor. It alone keeps the memory: the exporter may be gone.
    PosixFd(OwnedFd),
    /// A fabric handle.
    Fabric(FabricHandle),
    /// An NT handle of the exporter.
    Win32(Win32Handle),
}

impl ShareableHandle {
    /// The file descriptor, if it is one.
    #[must_use]
    pub fn into_posix_fd(self) -> Option<OwnedFd> {
        match self {
            Self::PosixFd(fd) => Some(fd),
            Self::Fabric(_) | Self::Win32(_) => None,
        }
    }

    /// The same as an importer passes it.
    #[must_use]
    pub fn as_os_handle(&self) -> OsHandle<'_> {
        match self {
            Self::PosixFd(fd) => OsHandle::Fd(fd.as_fd()),
            Self::Fabric(handle) => OsHandle::Fabric(handle),
            Self::Win32(handle) => OsHandle::Win32(*handle),
        }
    }
}

/// A shareable handle as an importer passes it (the `void *osHandle` of the driver).
#[derive(Clone, Copy, Debug)]
pub enum OsHandle<'a> {
    /// An open file descriptor.
    Fd(BorrowedFd<'a>),
    /// A number where a descriptor belongs, open or not: the driver must answer for it, and only looks at it.
    FdNumber(RawFd),
    /// A fabric handle.
    Fabric(&'a FabricHandle),
    /// An NT handle of the importer.
    Win32(Win32Handle),
}

impl OsHandle<'_> {
    /// The number of the descriptor, if it is meant to be one.
    #[must_use]
    pub fn fd_number(&self) -> Option<RawFd> {
        match self {
            Self::Fd(fd) => Some(fd.as_raw_fd()),
            Self::FdNumber(number) => Some(*number),
            Self::Fabric(_) | Self::Win32(_) => None,
        }
    }

    /// What it is meant to be.
    #[must_use]
    pub const fn handle_type(&self) -> HandleType {
        match self {
            Self::Fd(_) | Self::FdNumber(_) => HandleType::POSIX_FILE_DESCRIPTOR,
            Self::Fabric(_) => HandleType::FABRIC,
            Self::Win32(_) => HandleType::WIN32,
        }
    }
}

impl<'a> From<BorrowedFd<'a>> for OsHandle<'a> {
    fn from(fd: BorrowedFd<'a>) -> Self {
        Self::Fd(fd)
    }
}

/// Memory of the current context's device (`cuMemGetInfo`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MemInfo {
    /// Bytes that can still be allocated.
    pub free: ByteSize,
    /// Bytes in all.
    pub total: ByteSize,
}
