//! An entry in an OS process of its own.
//!
//! The coordinator ([`play`]) starts one for each entry, gives it a [task](protocol::Task), and waits for the verdict; one that
//! dies or does not end in time has failed. What it starts in turn are processes of the same executable with other tasks.

mod coordinator;
mod launch;
mod player;
mod protocol;

pub use coordinator::{PlayError, play};
pub use launch::Launch;
pub use player::player_main;
pub(crate) use protocol::Task;
