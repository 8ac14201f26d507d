//! NVIDIA's streamOrderedAllocationIPC: processes hand each other's memory of stream-ordered pools round.
//!
//! The parent makes a pool for each worker on that worker's device, one that can be exported, allocates a buffer from it in the
//! order of a stream, and exports the pool as a descriptor and the buffer's pointer as bytes. Workers import the pools, let
//! their device in where it has no access, and import the pointers. Each frees what it imported in the order of its stream and
//! waits for that before it ends; the parent frees the same memory after that. Everything else is as in every `relay/`.
//!
//! | file | what it does |
//! | --- | --- |
//! | `options.rs` | what can be asked of this scenario alone |
//! | `story.rs` | what this scenario adds to the parent's story, and to the worker's |
//! | `exporter.rs`, `importer.rs` | the two sides of the memory |
//!
//! # Portability
//! Differences from the sample: an imported pool is destroyed once its memory is free.

mod exporter;
mod importer;
mod options;
mod story;

pub use options::{Handles, PoolIpc};
pub(crate) use story::work;
