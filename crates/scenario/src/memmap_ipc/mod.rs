//! NVIDIA's memMapIPCDrv: processes fill and verify each other's `cuMemMap` memory.
//!
//! The parent chooses devices and allocates one buffer per worker on the first of them. It exports each buffer as a file
//! descriptor, or as a fabric handle, and hands all of them to every worker. Workers map all buffers in a row. In step `i` of as many steps as
//! there are workers, worker `id` fills buffer `(i + id) mod n`; after each step all wait for all. Then worker `id` verifies
//! buffer `id`, which worker `(id + 1) mod n` filled last.
//!
//! | file | what it does |
//! | --- | --- |
//! | `story.rs` | what this scenario adds to the parent's story |
//! | `worker.rs` | the worker's story |
//!
//! # Portability
//! Differences from the sample: the parent needs no context; workers start before the parent initialises its own driver, so
//! that all initialise at once; the sample's first barrier is the message with which each worker asks for the buffers;
//! worker `i` of several per device works on chosen device `i mod devices`, so that neighbours in the ring sit on different
//! devices.

mod story;
mod worker;

pub use story::MemmapIpc;
pub(crate) use worker::{Task, work};
