//! Plays traces and compares.
//!
//! The player plays step by step in one OS process: each process of the trace has a [`peermap_driver::Driver`] and its
//! own values by name. It compares the result and every returned value with the recording, and goes on after a
//! mismatch where it can.

mod arguments;
mod calls;
mod compare;
mod error;
mod modules;
mod outcome;
mod process;
mod processes;
mod session;
mod values;

pub use compare::{Expected, Got};
pub use error::PlayError;
pub use outcome::{Mismatch, Outcome};
pub use processes::{End, Processes, StartError};
pub use session::Player;
