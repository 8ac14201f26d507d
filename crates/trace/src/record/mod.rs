//! From calls to traces.
//!
//! A [`Recorder`] is a driver around a driver. It writes each call that passes through it, with its answer, as a step of
//! a [`Recording`], and makes up the names. What is written plays back on any player.

mod argument;
mod noted;
mod output;
mod recorder;
mod recording;
mod step;

pub use recorder::Recorder;
pub use recording::{OmittedCalls, Recording};
