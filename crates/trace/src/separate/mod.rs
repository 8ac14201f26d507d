//! Each process of a trace in an OS process of its own.
//!
//! The coordinator has the trace, and starts a player for each of its processes ([`Separate`]). A player
//! ([`player_main`]) has a driver and the values of its process, and does one step at a time. Descriptors go from player
//! to player by way of the coordinator, which keeps no copy.

mod coordinator;
mod describe;
mod launch;
mod player;
mod protocol;

pub use coordinator::Separate;
pub use describe::{Description, describe};
pub use launch::{Launch, PlayerCommand};
pub use player::player_main;
