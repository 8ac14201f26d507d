//! The driver calls of a run: each of them, what they took together, and the file that shows them on a time line.

mod chrome;
mod record;
mod summary;

pub use chrome::chrome_trace;
pub use record::{Argument, CallError, CallRecord, LostCalls, ProcessCalls};
pub use summary::CallSummary;
pub(crate) use summary::calls_table;

#[cfg(test)]
pub(crate) mod samples;
