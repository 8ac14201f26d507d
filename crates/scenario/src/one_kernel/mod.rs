//! One kernel of the user's, launched once in this process.
//!
//! It is no workload of several processes, but what these are made of, with nothing around it: a context, a module,
//! buffers and a launch. [`Argument`] is what the kernel is given as a person writes it, [`check`] compares that with what
//! the text of the kernel declares, [`launch`] does the rest, and [`Runs`] says in short what a buffer holds.

mod argument;
mod error;
mod launch;
mod mapped;
mod number;
mod runs;
mod signature;

pub use argument::{Argument, ArgumentError, Given, Start};
pub use error::LaunchError;
pub use launch::{OneKernel, launch};
pub use number::NumberError;
pub use runs::Runs;
pub use signature::{SignatureError, check};
