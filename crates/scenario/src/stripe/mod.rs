//! Vectors in contiguous ranges whose stripes lie on several devices in turn, and their sum, to which each device adds its share:
//! NVIDIA's vectorAddMMAP with a process for each device.
//!
//! The parent allocates stripes of three vectors and hands all descriptors to every worker, which maps each vector in a row. The
//! first half of the stripes lies on all devices but the last. When the last one joins, what is there stays where it is: it is
//! mapped for the new device too, and the other half of the stripes, which lie on all devices in turn, is mapped behind it. No byte is
//! copied for that, and each worker finds on its own device what was there before. Then all devices add, each its share:
//!
//! | balance | shares |
//! | --- | --- |
//! | `even` | the same for each device |
//! | `by-device` | as much as a device's multiprocessors and clock and the bandwidth that was measured allow, whichever is less |
//! | `dynamic` | none: each takes the next piece from a counter that all share, as long as there are pieces |
//!
//! What is told is when each device was done, and the gap between the first and the last.
//!
//! | file | what it does |
//! | --- | --- |
//! | `options.rs` | what can be asked of this scenario alone |
//! | `layout.rs` | which stripe lies on which device |
//! | `story.rs` | what this scenario adds to the parent's story |
//! | `board.rs` | what the workers tell each other |
//! | `share.rs` | who adds what |
//! | `vectors.rs` | the vectors, mapped in a worker |
//! | `adder.rs` | the kernels of `kernels/stripe.cu` on the vectors |
//! | `worker.rs` | the worker's story |

mod adder;
mod board;
mod layout;
mod options;
mod share;
mod story;
mod vectors;
mod worker;

pub use options::{Balance, Stripe};
pub(crate) use worker::{Task, work};
