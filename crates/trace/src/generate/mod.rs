//! Random traces.
//!
//! A [`Generator`] chooses one step after the other and plays each at once on the backend that it is given: from the
//! answers it keeps a picture of every process, so that it knows which names exist and what they stand for. Arguments are
//! mostly right and sometimes wrong.
//!
//! What it never chooses, because the answer would say nothing about the rules: steps whose answer depends on where the
//! driver places something, or on timing; reads of memory that nobody wrote or that was freed; use of handles that are
//! gone, on which the real driver crashes.
//!
//! [`shrink`] takes steps out of a trace for as long as a difference between two backends stays.

mod context;
mod copy;
mod error;
mod event;
mod fault;
mod generator;
mod legacy;
mod mapping;
mod multicast;
mod physical;
mod picture;
mod pool;
mod pool_share;
mod query;
mod random;
mod share;
mod shrink;
mod weights;
mod writing;

pub use error::GenerateError;
pub use generator::Generator;
pub use shrink::{Shrunk, shrink};
pub use weights::Weights;
