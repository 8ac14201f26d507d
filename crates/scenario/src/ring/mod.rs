//! What the workers have in common that fill each other's buffers in turn.
//!
//! There are as many buffers as workers. In step `i` worker `id` fills buffer `(i + id) mod n`, and at the end it verifies
//! buffer `id`. How the buffers are shared and how the steps are kept apart is what scenarios differ in.
//!
//! | file | what it does |
//! | --- | --- |
//! | `task.rs` | what a worker is to do, whatever the scenario |
//! | `turns.rs` | who fills which buffer when |
//! | `workplace.rs` | context, stream, kernels and timer of a worker |
//! | `conclude.rs` | what follows the last step: verification, measurements, teardown |
//! | `measure.rs` | repeated measurements after a run |

mod conclude;
mod measure;
mod task;
mod turns;
mod workplace;

pub(crate) use conclude::{Filled, Memory};
pub(crate) use task::Task;
pub(crate) use turns::{buffer_of, last_author};
pub(crate) use workplace::{NON_BLOCKING, Workplace};
