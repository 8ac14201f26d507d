//! What the calls for memory pools take and give.

use serde::{Deserialize, Serialize};

use crate::memory::{AllocationType, HandleType, Location};
use crate::unit::ByteSize;

/// What a memory pool is to be (`CUmemPoolProps`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct MemPoolProps {
    /// How its allocations behave.
    pub allocation_type: AllocationType,
    /// The way it may be shared.
    pub handle_types: HandleType,
    /// Where its memory lies.
    pub location: Location,
    /// How much it may reserve at most; 0 leaves that to the driver.
    pub max_size: ByteSize,
    /// Further uses, a bit mask.
    pub usage: u16,
}

impl MemPoolProps {
    /// A pool of pinned memory of a device that can be shared in the given way.
    #[must_use]
    pub const fn pinned_on(ordinal: i32, handle_types: HandleType) -> Self {
        Self {
            allocation_type: AllocationType::PINNED,
            handle_types,
            location: Location::device(ordinal),
            max_size: ByteSize::ZERO,
            usage: 0,
        }
    }
}

/// What another process needs to find an allocation of a shared pool (`CUmemPoolPtrExportData`): 64 opaque bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemPoolPtrExportData(pub [u8; 64]);
