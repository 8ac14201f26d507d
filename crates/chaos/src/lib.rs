//! Runs of scenarios in which something goes wrong, chosen by a seed.
//!
//! A seed is a [`Plan`]: how many devices and workers there are, and which [`Fault`]s happen. [`in_one`] plays a plan with
//! all processes in one OS process, a thread for each, of which one runs at a time: the same plan gives the same
//! events. After each run everything must be as before, and the result must be one that the faults allow ([`judge`]).
//!
//! In processes of their own the same faults are made by a [`Saboteur`] in each.

#![forbid(unsafe_code)]

mod codes;
mod fault;
mod judge;
mod one;
mod plan;
mod saboteur;
mod search;
mod separate;
mod theatre;
mod troupe;
mod witness;

pub use codes::codes;
pub use fault::{Fault, ParseFaultError, What, Who};
pub use judge::{Outcome, judge};
pub use one::{Staged, Trial, in_one};
pub use plan::{Plan, Processes};
pub use saboteur::{Power, Saboteur, Tally};
pub use search::{shrink, single_faults};
pub use separate::{separate, worker_with_faults};
