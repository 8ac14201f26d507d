//! From the body of an entry to steps and machine code.
//!
//! | file | what it decides |
//! | --- | --- |
//! | `wide.rs` | that registers of 128 bits are two of 64 |
//! | `place.rs` | where each register is kept: once for a block, or once for each lane |
//! | `plan.rs` | which step each instruction becomes |
//! | `segment.rs` | which instructions become machine code together |
//! | `emit/` | that machine code, instruction by instruction |
//! | `code.rs` | compiling it and calling it |

pub(crate) mod code;
pub(crate) mod emit;
pub(crate) mod place;
pub(crate) mod plan;
pub(crate) mod segment;
pub(crate) mod wide;
