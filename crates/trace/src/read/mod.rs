//! From JSON Lines to traces.

mod error;
mod line;
mod lines;
mod names;
mod reader;
mod unique;

pub use error::{Position, ReadError};
pub use lines::{Lines, MAX_LINE, TraceLine};
pub use reader::Reader;
