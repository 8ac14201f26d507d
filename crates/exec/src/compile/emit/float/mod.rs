//! Floating-point numbers.
//!
//! A number is an integer of its bits: of 64 for `f64`, of 32 for all others, whose unused bits are zero. What the host
//! rounds as PTX does is its own instruction; for everything else [`crate::float`] is called.
//!
//! | file | what it emits |
//! | --- | --- |
//! | `number.rs` | what all others need: elements of pairs, the host's numbers, calls |
//! | `bits.rs` | what looks at bits alone: signs, classes, flushing, saturation |
//! | `arithmetic.rs` | what is rounded |
//! | `approximate.rs` | what is approximated |
//! | `extreme.rs` | the smaller and the larger |
//! | `compare.rs` | comparisons, and choices by sign |
//! | `convert.rs`, `integer.rs` | numbers from others, and from integers and back |
//! | `dispatch.rs` | which instruction is which of these |

mod approximate;
mod arithmetic;
mod bits;
mod compare;
mod convert;
mod dispatch;
mod extreme;
mod integer;
mod number;

pub(super) use compare::pair_type;
