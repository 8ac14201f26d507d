//! Running a block of threads in step.
//!
//! | file | what it does |
//! | --- | --- |
//! | `frame.rs` | the registers of all threads |
//! | `mask.rs` | sets of lanes |
//! | `schedule.rs`, `meeting.rs` | which lanes run together, which wait, and where those that parted meet again |
//! | `run.rs` | one step after the other |
//! | `barrier.rs`, `warp.rs` | what threads do together |
//! | `access.rs`, `atomic.rs`, `multimem.rs` | what reaches memory |
//! | `spaces.rs` | memory that a block and its threads have for themselves |
//! | `system.rs` | what the system has: printing, and assertions that fail |
//! | `print.rs`, `number.rs` | texts of `printf`, and the numbers in them |
//! | `timer.rs` | clocks |
//! | `affine.rs` | comparisons that the first and the last lane decide for all |

pub(crate) mod access;
pub(crate) mod affine;
pub(crate) mod atomic;
pub(crate) mod barrier;
pub(crate) mod frame;
pub(crate) mod mask;
pub(crate) mod meeting;
pub(crate) mod multimem;
mod number;
mod print;
pub(crate) mod run;
pub(crate) mod schedule;
pub(crate) mod spaces;
pub(crate) mod system;
pub(crate) mod timer;
pub(crate) mod warp;
