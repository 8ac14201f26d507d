//! Recording of driver calls: in each process while it works, sent to the parent at the end.
//!
//! | file | what it does |
//! | --- | --- |
//! | `recorder.rs` | notes each call of a process, with as little work as possible while the call is being timed |
//! | `told.rs` | the same as the parent's records, and what the parent knows of a worker's calls |

mod recorder;
mod told;

pub(crate) use recorder::{CallRecorder, Recorded};
pub(crate) use told::{Heard, without_arguments};
