//! Recorded driver calls: format, reader, writer, players, recorder, generator.
//!
//! A *trace* is a list of driver calls of one or more processes with what the driver answered.
//!
//! - [`Reader`] reads traces from JSON Lines, one at a time, and [`Lines`] one line at a time; [`Writer`] writes them as
//!   the recordings are written.
//! - A [`Session`] plays steps on any [`peermap_driver::Driver`]: all processes [`InOne`] OS process, or each in one of
//!   its own ([`Separate`]). [`Got::matches`] compares, and what differs is a [`Mismatch`]. [`Player`] does it for a whole
//!   trace.
//! - A [`Generator`] makes random traces, and [`shrink`] takes out of one what a difference does not need.
//! - A [`Recorder`] is a driver around a driver that writes down what passes through.
//!
//! This crate never names a backend: whoever plays a trace passes the processes in ([`Processes`], [`Launch`]).
//!
//! # Units
//! Sizes and offsets of the format are bytes. Lines and columns of errors count from 1, columns in bytes.

mod call;
mod format;
mod generate;
mod player;
mod read;
mod record;
mod reference;
mod result;
mod separate;
mod write;

pub use call::{OsStep, StepCall};
pub use format::{FORMAT_VERSION, Header, Machine, Needs, Step, Trace};
pub use generate::{GenerateError, Generator, Shrunk, Weights, shrink};
pub use nix::errno::Errno;
pub use nix::sys::signal::Signal;
pub use player::{
    End, Expected, Got, InOne, Mismatch, Outcome, PlayError, Player, Processes, Reason, Session, Stage, StartError,
};
pub use read::{Lines, MAX_LINE, Position, ReadError, Reader, TraceLine};
pub use record::{OmittedCalls, Recorder, Recording};
pub use reference::Reference;
pub use result::StepResult;
pub use separate::{Description, Launch, PlayerCommand, Separate, describe, player_main};
pub use write::Writer;
