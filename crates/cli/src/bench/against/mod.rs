//! `peermap bench --against`: two builds measured in turns on one machine, and compared pair by pair.
//!
//! | file | what it does |
//! | --- | --- |
//! | `args.rs` | the options |
//! | `other.rs` | finds the other build: an executable, or a revision that is built first |
//! | `worktree.rs` | a revision in a folder of its own, and what cargo makes of it |
//! | `scratch.rs` | that folder, which goes however this process ends |
//! | `build.rs` | one build: what it is asked, what it answers, that it stays the same |
//! | `turns.rs` | which build is measured when, and where its results are kept |

mod args;
mod build;
mod other;
mod scratch;
mod turns;
mod worktree;

pub(crate) use args::Against;
pub(super) use turns::run;
