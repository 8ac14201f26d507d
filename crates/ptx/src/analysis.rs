//! What can be said about code without running it.
//!
//! Everything here is a pure function of a [`Body`](crate::Body) or a [`Module`](crate::Module):
//! [`ControlFlow`] gives the basic blocks, [`Dominators`] where threads that part meet again, [`Liveness`] which
//! registers are read later, [`Uniformity`] which values all threads share, [`CallGraph`] who calls whom, and
//! [`Resources`] what an entry asks of a multiprocessor.

mod calls;
mod control_flow;
mod cycles;
mod divergence;
mod dominators;
mod liveness;
mod resources;
mod shape;
mod transfer;
mod uniformity;

pub use calls::{CallGraph, Caller};
pub use control_flow::{Block, BlockId, ControlFlow};
pub use dominators::Dominators;
pub use liveness::Liveness;
pub use resources::{RegisterCounts, Resources};
pub use shape::{BlockShape, Shape};
pub use uniformity::Uniformity;
