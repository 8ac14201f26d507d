//! Playing traces on a backend, for all commands that do.

mod files;
mod launch;
mod place;

pub(crate) use files::{Steps, each_trace, malformed, open, without_traces};
pub(crate) use launch::{InOneProcesses, OPTIONS};
pub(crate) use place::{Place, simulated};
