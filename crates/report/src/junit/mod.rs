//! Results as test cases, in the XML of JUnit, which CI systems read.
//!
//! What was not compared or not played is a skipped case with its reason, and never one that passed.

mod case;
mod xml;

pub use case::{Case, Outcome, Suite};
pub use xml::xml;
