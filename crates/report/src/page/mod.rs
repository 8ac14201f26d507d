//! Results of benchmarks as a page for people: one file that loads nothing, with drawings made here.

mod change;
mod compared;
mod comparison;
mod document;
mod facts;
mod figure;
mod frame;
mod gather;
mod heat;
mod history;
mod line;
#[cfg(test)]
mod made_up;
mod measured;
mod scale;
mod series;
mod size;
mod strip;
mod table;
mod time;
mod verdicts;

pub use comparison::comparison;
pub use document::page;
pub use frame::frame;

use crate::bench::BenchReport;

/// A result and what it is called on the page, such as the name of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The result.
    pub report: BenchReport,
}
