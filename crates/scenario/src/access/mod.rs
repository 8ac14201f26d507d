//! Rights of each device on memory that all devices map: none, read, read and write, changed while mapped, revoked.
//!
//! The parent allocates one buffer per worker on the first device and hands all descriptors to every worker. Each right is tried
//! from each device with each deed: a copy to the host, a kernel that loads, a memset, a kernel that stores. What the rights
//! permit must do its work, the driver must refuse a copy or a memset that they forbid, and a kernel must fault. A fault ends
//! a context for good, so each try that must fault has a worker of its own. One more worker for each device makes all other tries;
//! it fills the buffers of its device's workers before the tries, and finds them unchanged after the faults.
//!
//! While the rights of a worker's device are tried, all other devices may read and write the same mapping: rights are those of
//! one device.
//!
//! | file | what it does |
//! | --- | --- |
//! | `right.rs` | the rights, and how a device comes to them |
//! | `deed.rs` | what is tried, and what must come of it |
//! | `seat.rs` | which worker tries what |
//! | `story.rs` | what this scenario adds to the parent's story |
//! | `worker.rs` | the worker's story |
//! | `trial.rs` | a buffer, mapped for one device, and the deeds on it |

mod deed;
mod right;
mod seat;
mod story;
mod trial;
mod worker;

pub use deed::Deed;
pub use right::Right;
pub use story::Access;
pub(crate) use worker::{Task, work};
