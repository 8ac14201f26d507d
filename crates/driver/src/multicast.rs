//! What the calls for multicast objects take.

use serde::{Deserialize, Serialize};

use crate::memory::HandleType;
use crate::unit::ByteSize;

/// What a multicast object is to be (`CUmulticastObjectProp`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct MulticastObjectProp {
    /// How many devices its team has.
    pub num_devices: u32,
    /// How much memory each of them can bind at most.
    pub size: ByteSize,
    /// The ways it may be shared, a bit mask.
    pub handle_types: HandleType,
    /// Further uses, a bit mask.
    pub flags: u64,
}

impl MulticastObjectProp {
    /// A team of so many devices, each of which binds so much memory, that can be shared in the given ways.
    #[must_use]
    pub const fn team_of(num_devices: u32, size: ByteSize, handle_types: HandleType) -> Self {
        Self { num_devices, size, handle_types, flags: 0 }
    }
}
