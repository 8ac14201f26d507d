//! Memory of each worker, shared as fabric handles: 64 opaque bytes that open it on the same node or on another.
//!
//! Each worker creates a buffer on its own device and exports it. The handles go to all workers, each imports and maps all
//! buffers in a row, and keeps its own handle until all have done so. Then each fills its own buffer, all wait for all, and each
//! verifies every buffer through the handle that it imported.
//!
//! The devices may sit on several nodes, so they need not be peers of each other; a worker's process is on the node of its
//! device. Each device is tried before the work begins, and takes no part if it has no fabric handles, or if the parent, which
//! is on the first node, cannot import them. Whether other nodes reach each other shows where one imports what the other
//! exported; that comes before anything is filled.
//!
//! Between processes that the parent started handles lie in shared memory, a slot for each worker. Processes that something
//! else started, such as `mpirun`, bring a [`Transport`](crate::Transport) of their own
//! ([`work_as_rank`]).
//!
//! | file | what it does |
//! | --- | --- |
//! | `options.rs` | what can be asked of this scenario alone |
//! | `story.rs` | what this scenario adds to the parent's story |
//! | `worker.rs` | the worker's story |
//! | `rank.rs` | a worker whose process something else started |

mod options;
mod rank;
mod story;
mod worker;

pub use options::{Fabric, Mistake};
pub use rank::{Rank, RankEnd, report_of_ranks, work_as_rank};
pub(crate) use worker::{Task, work};
