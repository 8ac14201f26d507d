//! The parent's side of every scenario.
//!
//! | file | what it does |
//! | --- | --- |
//! | `story.rs` | what a scenario adds to the story: its devices, its memory, its workers' role |
//! | `run.rs` | the story: workers, devices, memory, supervision, and what is measured around it |
//! | `plan.rs` | who works where, the orders, and the report |
//! | `handover.rs` | descriptors, barrier and progress of the workers |

mod handover;
mod plan;
mod run;
mod story;

pub use plan::refused;
pub(crate) use plan::{Plan, outline, unfinished, worker_report};
pub use run::{run, run_recording_calls};
pub(crate) use story::{SizeError, Story, Supplies, SupplyError, check_granularity, check_host_room, check_room};
