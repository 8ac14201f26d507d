//! Running a block of threads in step.
//!
//! | file | what it does |
//! | --- | --- |
//! | `frame.rs` | the registers of all threads |
//! | `mask.rs` | sets of lanes |
//! | `stack.rs` | which lanes run together, and where those that parted meet again |
//! | `run.rs` | one step after the other |
//! | `access.rs`, `atomic.rs` | what reaches memory |
//! | `timer.rs` | clocks |
//! | `affine.rs` | comparisons that the first and the last lane decide for all |

pub(crate) mod access;
pub(crate) mod affine;
pub(crate) mod atomic;
pub(crate) mod frame;
pub(crate) mod mask;
pub(crate) mod run;
pub(crate) mod stack;
pub(crate) mod timer;
