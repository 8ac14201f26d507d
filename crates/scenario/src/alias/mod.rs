//! One allocation mapped at two addresses, and the cases of its use that the CUDA programming guide tells apart.
//!
//! A write by one address is known to a read by another once the operation that wrote has ended and the one that reads began after
//! that, or behind `fence.proxy.alias` in the kernel that did both. All else is undefined.
//!
//! | case | what happens | |
//! | --- | --- | --- |
//! | `foo1`, then `foo2` | a kernel writes; a kernel and a copy on other streams read by another address, behind an event | defined |
//! | fenced `foo` | a kernel writes each word by one address and reads it by the other, with the fence between | defined |
//! | `foo` | the same without the fence | undefined |
//! | early reader | a kernel that runs already when another one writes and ends reads by another address then | undefined |
//!
//! What is defined must be read as it was written. What is undefined must be reported where something watches for it, which the
//! simulator does with its check of aliases; elsewhere the words that were read are counted, without a verdict. A report
//! ends the simulation of the process, so each undefined case has a worker of its own.
//!
//! | file | what it does |
//! | --- | --- |
//! | `case.rs` | the cases, and which worker has which |
//! | `story.rs` | what this scenario adds to the parent's story |
//! | `worker.rs` | the worker's story |
//! | `stage.rs` | what the cases are played with, and how each is played |
//! | `kernels.rs` | the kernels of `kernels/alias.cu` |
//! | `twice.rs` | memory that is mapped twice |

mod case;
mod kernels;
mod stage;
mod story;
mod twice;
mod worker;

pub use case::Case;
pub use story::Alias;
pub(crate) use worker::{Task, work};
