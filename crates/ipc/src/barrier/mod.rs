//! A barrier between processes whose timeout names who is missing.
//!
//! The barrier lies in shared memory: a state word on which members sleep, and a slot per member with the round that it
//! has reached. A supervisor, which is no member itself, makes it, hands its descriptor to the members, and
//! [poisons](Barrier::poison) it when one of them has died.
//!
//! It is all or nothing: a round is either completed for all members or ends in an error for all of them, and after an
//! error no later round is ever passed.

mod algorithm;
mod error;
mod futex;
mod shared;
mod state;

#[cfg(test)]
pub(crate) use algorithm::{Rounds, Woken, Word};
pub use error::BarrierError;
pub use shared::{Barrier, MAX_MEMBERS, Member};
#[cfg(test)]
pub(crate) use state::Round;
