//! NVIDIA's simpleIPC: processes hand each other's `cuMemAlloc` memory round, in the order of events that they share.
//!
//! The parent allocates a buffer for each worker on that worker's device with `cuMemAlloc`; workers open it by its legacy
//! handle, and close it before the parent frees it. Everything else is as in every `relay/`.
//!
//! | file | what it does |
//! | --- | --- |
//! | `story.rs` | what this scenario adds to the parent's story, and to the worker's |
//! | `exporter.rs`, `importer.rs` | the two sides of the memory |

mod exporter;
mod importer;
mod story;

pub use story::SimpleIpc;
pub(crate) use story::work;
