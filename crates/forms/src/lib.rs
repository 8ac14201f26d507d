//! Forms of PTX instructions as data: what to run, on which operands, and what must come out.
//!
//! A [`Form`] is the text of an instruction (or of a few that belong together), and a function of Rust that says what
//! it computes. [`Program::new`] makes a module of it, in which each thread carries out the form on operands of its own.
//! Whoever can run PTX runs the module, and [`check`] compares: the simulator in its tests, a GPU by way of its driver.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `form.rs` | what a form is |
//! | `operands.rs` | the operands that every form is run on |
//! | `program.rs` | from a form and operands to PTX and bytes |
//! | `check.rs` | comparing, and finding the simplest operands that differ |
//! | `reference.rs` | formats and roundings, for references |
//! | `table/` | the forms themselves |

mod check;
mod form;
mod operands;
mod program;
pub mod reference;
mod table;

pub use check::{Failure, Mismatch, check};
pub use form::{Form, INITIAL, Operands, Reference};
pub use operands::{Row, rows};
pub use program::{Program, Spread};
pub use table::{integers, numbers};
