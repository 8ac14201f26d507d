//! The suites of benchmarks, over the Driver trait.
//!
//! A [`Suite`] plans groups; a [`Group`] is work that is done over and over, and gives one sample for each of its outputs each
//! time. [`measure`] runs them: warm-up, then samples until the interval of every median is narrow enough or the time is up,
//! and keeps every sample. A suite that comes later is a folder of its own and a line in [`SUITES`].
//!
//! | suite | what it measures |
//! | --- | --- |
//! | `control` | what the calls of virtual memory, `cuMemAlloc` and pools cost |
//! | `bandwidth` | fills, verification and copies, by size and by how the memory was mapped |
//! | `transport` | how descriptors and shared memory get from process to process, and how long a process takes to start |
//! | `barrier` | rounds of a barrier between processes |
//! | `scenario` | memmap-ipc and simple-ipc from end to end, by phase; the ring of legacy handles by events and by the host |
//!
//! # Units
//! Times are nanoseconds, rates are 1e9 bytes a second. A copy counts its bytes once.

#![deny(unsafe_code)]

mod alone;
mod bandwidth;
pub mod barrier;
mod clock;
mod control;
mod effort;
mod error;
mod measure;
mod owned;
mod partner;
mod peak;
mod rig;
mod scenario;
mod suite;
mod transport;

pub use alone::Alone;
pub use bandwidth::{DeviceWork, MemoryKind, OnDevice, TimedStream};
pub use effort::Effort;
pub use error::BenchError;
pub use measure::{GroupError, Progress, measure};
pub use partner::{Partner, partner_main};
pub use peak::Peaks;
pub use rig::{Crew, MOST_DEVICES, Rig, Starter};
pub use suite::{Crossing, Group, Output, Planned, SUITES, Suite};
