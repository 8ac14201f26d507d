//! Events, result schema and text output of a run.
//!
//! | item | what it gives |
//! | --- | --- |
//! | [`ExitCode`] | the exit codes of the command, as documented constants |
//! | [`Event`], [`EventSink`] | one stream of what happens during a run; [`event_line`] shows an event as text |
//! | [`RunReport`] | the result of a run: JSON with a schema number, and a table |
//! | [`calls`] | driver calls: each of them, a summary, and a file that shows them on a time line |
//! | [`mod@bench`] | results of benchmarks: every sample, the machine that they come from, verdicts on two of them |
//! | [`junit`] | results as test cases for CI systems |
//! | [`page`] | results of benchmarks as a page for people |
//! | [`Account`] | what a simulated machine tells of its memory |
//! | [`Failure`] | why a run did not succeed, and the exit code that follows |
//!
//! This crate does no I/O, has no randomness and takes time as an argument. It uses no other peermap crate.
//!
//! # Units
//! Times are milliseconds where their name does not say otherwise, sizes are bytes, and GB/s means 1e9 bytes a second.

#![forbid(unsafe_code)]

mod account;
mod alias_use;
pub mod bench;
pub mod calls;
mod event;
mod exit_code;
mod failure;
mod grown;
pub mod junit;
pub mod page;
mod phases;
mod plain;
mod rejected;
mod run;
mod striped;
mod table;
mod tries;

pub use account::{Account, Held, Keeper, Left, Misuse, SimulatedProcess};
pub use alias_use::AliasUse;
pub use event::{Event, EventSink, event_line};
pub use exit_code::ExitCode;
pub use failure::{Failure, FailureKind, Mismatch};
pub use grown::Grown;
pub use phases::Phases;
pub use rejected::{RejectedDevice, Rejection, device_list};
pub use run::{Provenance, Rates, Reference, RunReport, SCHEMA, WorkerReport, gigabytes_per_second};
pub use striped::Striped;
pub use tries::Try;
