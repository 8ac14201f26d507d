//! What the workers have in common that fill each other's buffers in turn.
//!
//! There are as many buffers as workers. In step `i` worker `id` fills buffer `(i + id) mod n`, and at the end it verifies
//! buffer `id`. How the buffers are shared and how the steps are kept apart is what scenarios differ in.
//!
//! | file | what it does |
//! | --- | --- |
//! | `turns.rs` | who fills which buffer when |
//! | `conclude.rs` | what follows the last step: verification, measurements, teardown |
//! | `measure.rs` | repeated measurements after a run |

mod conclude;
mod measure;
mod turns;

pub(crate) use conclude::{Filled, Memory};
pub(crate) use turns::{buffer_of, last_author};
