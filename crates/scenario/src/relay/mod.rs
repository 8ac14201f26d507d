//! Buffers handed round in the order of events that processes share: what [`simple_ipc`](crate::simple_ipc) and
//! [`pool_ipc`](crate::pool_ipc) have in common.
//!
//! The parent makes a context on each device, and a buffer and an event for each worker on that worker's device. What opens
//! them in another process lies in shared memory, and every worker opens all of them. In step `i` of `n` worker `id` lets its
//! stream wait for the event of buffer `(i + id) mod n`, queues the filling of that buffer and records the event behind it;
//! then all wait for all on the host, but not for the devices. When the last step's work has ended everywhere, worker `id`
//! verifies buffer `id`. Every worker gives back what it has open before it ends, and the parent frees memory and events after
//! that.
//!
//! How memory is exported and imported is what scenarios differ in: each brings an [`Exporter`] and an [`Importer`].
//!
//! | file | what it does |
//! | --- | --- |
//! | `options.rs` | what can be asked of such a scenario |
//! | `exports.rs`, `contexts.rs` | what the parent holds: contexts, memory, events |
//! | `board.rs` | what opens memory and events, in shared memory |
//! | `imports.rs` | memory and events as a worker has them |
//! | `worker.rs` | the worker's story |
//!
//! # Portability
//! Differences from NVIDIA's samples: the shared memory has no name, and its descriptor comes when a worker asks for it; several
//! workers may share a device; a buffer holds 64 MiB of whatever `--fill` says; all wait for all before the first step, so that
//! the time of the ring is that of the ring alone. The host waits for no step, so each worker takes the time of its last fill
//! only.

mod board;
mod contexts;
mod exports;
mod imports;
mod options;
mod worker;

pub(crate) use board::Name;
pub(crate) use exports::{Exporter, Exports};
pub(crate) use imports::Importer;
pub use options::{Order, Relay};
pub(crate) use worker::{Task, work};
