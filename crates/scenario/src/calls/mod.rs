//! Recording of driver calls: in each process while it works, sent to the parent at the end.
//!
//! | file | what it does |
//! | --- | --- |
//! | `recorder.rs` | notes each call of a process, with as little work as possible while the run goes on |
//! | `wire.rs` | the calls as bytes, and back as the records of the report |
//! | `heard.rs` | what the parent knows of a worker's calls |

mod arrived;
mod heard;
mod recorder;
mod wire;

pub(crate) use heard::{Heard, Part};
pub(crate) use recorder::{CallRecorder, Recorded};
