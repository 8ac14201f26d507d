//! From the body of an entry to steps and machine code.
//!
//! | file | what it decides |
//! | --- | --- |
//! | `place.rs` | where each register is kept: once for a block, or once for each lane |
//! | `plan.rs` | which step each instruction becomes |
//! | `cooperation.rs` | the steps that threads take together |
//! | `segment.rs` | which instructions become machine code together |
//! | `emit/` | that machine code, instruction by instruction |
//! | `code.rs` | compiling it and calling it |

pub(crate) mod code;
mod cooperation;
pub(crate) mod emit;
pub(crate) mod place;
pub(crate) mod plan;
pub(crate) mod segment;
