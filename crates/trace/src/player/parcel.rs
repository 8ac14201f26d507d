//! What one process of a trace sends to another.

use std::os::fd::OwnedFd;

use peermap_driver::{FabricHandle, IpcEventHandle, IpcMemHandle, MemPoolPtrExportData};

use super::values::Value;

/// A value on its way from one process to another.
#[derive(Debug)]
pub enum Parcel {
    /// A descriptor.
    Descriptor(OwnedFd),
    /// The bytes of a fabric handle.
    Fabric(FabricHandle),
    /// The bytes of a legacy handle.
    Legacy(IpcMemHandle),
    /// The bytes of a handle to an event.
    EventHandle(IpcEventHandle),
    /// The bytes that find an allocation of a shared pool.
    PoolPointer(MemPoolPtrExportData),
}

impl From<Parcel> for Value {
    fn from(parcel: Parcel) -> Self {
        match parcel {
            Parcel::Descriptor(fd) => Self::Descriptor(fd),
            Parcel::Fabric(handle) => Self::Fabric(handle),
            Parcel::Legacy(handle) => Self::Legacy(handle),
            Parcel::EventHandle(handle) => Self::EventHandle(handle),
            Parcel::PoolPointer(data) => Self::PoolPointer(data),
        }
    }
}
