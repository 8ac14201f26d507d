//! PTX, compiled for the host and run for a whole block of threads in step.
//!
//! [`Kernel::compile`] turns the body of an entry into *steps*. What computes values becomes machine code by way of
//! Cranelift: a loop over the lanes of a block for registers that differ from thread to thread, and straight code for
//! those that do not, or that grow by a constant from thread to thread. What touches memory or other threads is carried
//! out here, for all lanes of the step at once, so that neighbouring lanes are checked as one range.
//!
//! [`Kernel::launch`] runs the blocks of a grid on all cores. Threads that part at a branch run one after the other and
//! meet again at its immediate post-dominator; groups and blocks that wait for others give way to them.
//!
//! # Errors
//! What is not covered is a [`CompileError`] that names the line, never a wrong result. A launch ends with a [`Stop`]
//! that says which thread did what at which line.
//!
//! # Safety
//! Machine code reads and writes its frame and nothing else: registers at places that were fixed when it was made, of
//! lanes that the frame has. All that it calls is `float::answer`, a function of its arguments alone. No address of the
//! program is used there; all memory goes through [`View`](peermap_memory::View). The only unsafe code is the call of
//! what was compiled, in `compile/code.rs`.

mod block;
mod check;
mod compile;
mod data;
mod error;
mod float;
mod grid;
mod kernel;
mod step;
mod window;

pub use check::{Check, Checks, Finding, History, Party, UnknownCheck, Writer};
pub use data::ModuleData;
pub use error::{Cause, CompileError, Line, Stop};
pub use grid::{Dim, Launch, Multiprocessors};
pub use kernel::Kernel;
pub use window::Window;
