//! Plays traces and compares.
//!
//! A [`Session`] plays step by step. Its processes live on a [`Stage`]: all in this OS process ([`InOne`]), or each in an
//! OS process of its own ([`Separate`](crate::Separate)). Each has a [`peermap_driver::Driver`] and its own values by
//! name. Both stages share everything else: which step starts and ends what, and what counts as the same answer.

mod arguments;
mod calls;
mod compare;
mod error;
mod in_one;
mod modules;
mod outcome;
mod parcel;
mod process;
mod processes;
mod reason;
mod session;
mod values;

pub use compare::{Expected, Got};
pub use error::PlayError;
pub use in_one::{InOne, Player};
pub use outcome::{Mismatch, Outcome};
pub use processes::{End, Processes, StartError};
pub use reason::Reason;
pub use session::{Session, Stage};

pub(crate) use calls::{attribute_value, kernel_parameters, properties_out, protection, runs};
pub(crate) use error::DiedAtStart;
pub(crate) use modules::PTX;
pub(crate) use parcel::Parcel;
pub(crate) use process::{Action, Numbers, Process};
pub(crate) use session::Actor;
pub(crate) use values::{Value, Values};
