//! Recorded driver calls: format, reader, player.
//!
//! A *trace* is a list of driver calls of one or more processes with what the driver answered. [`Reader`] reads traces
//! from JSON Lines, one at a time. [`Player`] plays a trace on any [`peermap_driver::Driver`] and compares every result
//! and every returned value with the recording; what differs is a [`Mismatch`].
//!
//! This crate never names a backend: whoever plays a trace passes the processes in ([`Processes`]).
//!
//! # Units
//! Sizes and offsets of the format are bytes. Lines and columns of errors count from 1, columns in bytes.

mod call;
mod format;
mod player;
mod read;
mod reference;
mod result;

pub use call::{OsStep, StepCall};
pub use format::{FORMAT_VERSION, Header, Machine, Needs, Step, Trace};
pub use nix::errno::Errno;
pub use player::{End, Expected, Got, Mismatch, Outcome, PlayError, Player, Processes, StartError};
pub use read::{Position, ReadError, Reader};
pub use reference::Reference;
pub use result::StepResult;
