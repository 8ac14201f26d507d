//! How fast bytes move: on a device, between devices, and between host and device.
//!
//! Work on devices is timed by events around several repetitions; a copy counts its bytes once. Memory that was mapped, imported,
//! opened by a legacy handle and taken from `cuMemAlloc` is measured side by side, so that a slow path shows.
//!
//! | file | what it does |
//! | --- | --- |
//! | `device.rs` | fill, verification and copy on one device, by size and by how the memory was mapped |
//! | `peer.rs` | between devices: one way, the other way, and both at once |
//! | `all_at_once.rs` | all devices at once: each to the next, each to all others |
//! | `host.rs` | between host and device, from page-locked and from ordinary memory |
//! | `on_device.rs`, `memory.rs` | work on memory of a device, which others may time too |
//! | `timed.rs` | a stream whose work is timed by events |

mod all_at_once;
mod device;
mod host;
mod memory;
mod on_device;
mod peer;
mod timed;

pub use memory::MemoryKind;
pub use on_device::{DeviceWork, OnDevice};
pub use timed::TimedStream;

use crate::rig::Rig;
use crate::suite::{Planned, Suite};

/// The suite.
pub(crate) struct Bandwidth;

impl Suite for Bandwidth {
    fn name(&self) -> &'static str {
        "bandwidth"
    }

    fn plan<'r>(&self, rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
        [device::plan(rig), peer::plan(rig), all_at_once::plan(rig), host::plan(rig)].into_iter().flatten().collect()
    }
}
