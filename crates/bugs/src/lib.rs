//! Known bugs about shared GPU memory: what hurt people, each reduced to a sequence with its right outcome.
//!
//! An [`Entry`] is played on the simulator, and on a real driver where hardware can show it. [`play`] plays one in an OS process
//! of its own, because an entry may fault, hang, be killed or lower a limit; that process calls [`player_main`]. What an entry
//! checks is the kind of its bug: at random places, for every call that can fail, for every moment of a death.
//!
//! | file or folder | what it holds |
//! | --- | --- |
//! | `entry.rs`, `table.rs` | what an entry is, and all of them |
//! | `entries/` | the sequences, a file for each |
//! | `stage.rs`, `machine.rs`, `process.rs` | where entries are played: machines and their processes |
//! | `peer/` | a second process that does what it is told |
//! | `helper.rs` | further processes of entries that need no driver |
//! | `expect.rs`, `trouble.rs` | what was to be, and what is wrong if it is not |
//! | `play/` | an entry in a process of its own |
//!
//! # Portability
//! Calls about multicast objects are made on the simulator only.

#![deny(unsafe_code)]

mod entries;
mod entry;
mod expect;
mod helper;
mod machine;
mod peer;
mod play;
mod process;
mod stage;
mod table;
mod trouble;

pub use entry::{Entry, Hardware, Played, UnknownEntry, Verdict};
pub use play::{Launch, PlayError, play, player_main};
pub use stage::{Open, Stage};
pub use table::{ENTRIES, choose};
pub use trouble::Trouble;
