//! A team of devices behind multicast addresses: written through by all, read in each copy, reduced, and a norm that is the same
//! on every rank.
//!
//! Each device is a rank; each rank has a worker process, or all have one together. The parent makes the multicast object and hands
//! every worker a descriptor or a fabric handle of it. A rank adds its device. All wait for all: what comes next does not return before the team is
//! complete, and a rank that cannot join would leave the others waiting in the driver. Then each rank binds memory of its device and
//! maps the team.
//!
//! Each rank stores a part of the memory through the team, and verifies every part in its own copy. It unbinds its memory and binds
//! it again, by address this time. It fills its own copy, reduces the team's into memory of its own, and verifies the sums. Last all run
//! the kernel of the programming guide, which counts arrivals in every copy, waits for the last, and joins a part of each rank
//! into a norm.
//!
//! | file | what it does |
//! | --- | --- |
//! | `options.rs` | what can be asked of this scenario alone |
//! | `story.rs` | what this scenario adds to the parent's story |
//! | `object.rs` | the multicast object, which the parent holds |
//! | `worker.rs` | the worker's story |
//! | `rank.rs` | one device of the team |
//! | `kernels.rs` | the kernels of `kernels/multicast.cu` in a context |
//! | `values.rs` | what ranks write, and what must come of it |

mod kernels;
mod object;
mod options;
mod rank;
mod story;
mod values;
mod worker;

pub use options::{Multicast, Team};
pub(crate) use worker::{Task, work};
