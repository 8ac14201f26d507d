//! NVIDIA's simpleIPC: processes hand each other's `cuMemAlloc` memory round, in the order of events that they share.
//!
//! The parent chooses devices, makes a context on each, and allocates a buffer and an event for each worker on that worker's
//! device. The legacy handles of all buffers and events lie in shared memory. Every worker opens all of them. In step `i` of
//! `n` worker `id` lets its stream wait for the event of buffer `(i + id) mod n`, queues the filling of that buffer and records
//! the event behind it; then all wait for all on the host, but not for the devices. When the last step's work has ended
//! everywhere, worker `id` verifies buffer `id`. Every worker closes what it has open before it ends, and the parent frees
//! memory and events after that.
//!
//! | file | what it does |
//! | --- | --- |
//! | `options.rs` | what can be asked of this scenario alone |
//! | `story.rs` | what this scenario adds to the parent's story |
//! | `buffers.rs` | the parent's contexts, memory and events |
//! | `board.rs` | the handles, in shared memory |
//! | `opened.rs` | memory and events as a worker opens them |
//! | `worker.rs` | the worker's story |
//!
//! # Portability
//! Differences from the sample: the shared memory has no name, and its descriptor follows the order to begin; several workers
//! may share a device; a buffer holds 64 MiB of whatever `--fill` says; all wait for all before the first step, so that the time
//! of the ring is that of the ring alone. The host waits for no step, so each worker takes the time of its last fill only.

mod board;
mod buffers;
mod opened;
mod options;
mod story;
mod worker;

pub use options::{Order, SimpleIpc};
pub(crate) use worker::{Task, work};
