//! From the body of an entry to steps and machine code.
//!
//! | file | what it decides |
//! | --- | --- |
//! | `link.rs` | an entry and all that it calls, as one body |
//! | `wide.rs` | that registers of 128 bits are two of 64 |
//! | `place.rs` | where each register is kept: once for a block, or once for each lane |
//! | `layout.rs` | where variables lie in memory |
//! | `plan.rs`, `location.rs` | which step each instruction becomes |
//! | `cooperation.rs` | the steps that threads take together |
//! | `segment.rs` | which instructions become machine code together |
//! | `emit/` | that machine code, instruction by instruction |
//! | `code.rs` | compiling it and calling it |

pub(crate) mod code;
mod cooperation;
pub(crate) mod emit;
pub(crate) mod layout;
pub(crate) mod link;
mod location;
mod multimem;
pub(crate) mod place;
pub(crate) mod plan;
pub(crate) mod segment;
pub(crate) mod wide;
