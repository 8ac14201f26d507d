//! Arithmetic of floating-point numbers, for machine code that cannot do it by itself.
//!
//! The host rounds to nearest, and knows `f32` and `f64`. For everything else machine code calls [`answer`] with a
//! [`Request`], lane by lane: other roundings, halves, and functions such as the sine. What is exact is rounded once, by
//! `rustc_apfloat`; what PTX approximates is computed in `f64` by `libm`, so that the result does not depend on the host.
//!
//! Numbers are bits everywhere. Which NaN a result is, and what becomes of subnormal numbers, is decided by who asks.

mod exact;
mod extreme;
mod flush;
mod format;
mod half;
mod request;
mod sum;

pub(crate) use extreme::extreme;
pub(crate) use format::Format;
pub(crate) use request::{Function, Request, SYMBOL, answer};
pub(crate) use sum::{sum, wide_sum};
