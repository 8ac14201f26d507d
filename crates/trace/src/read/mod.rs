//! From JSON Lines to traces.

mod error;
mod line;
mod names;
mod reader;

pub use error::{Position, ReadError};
pub use reader::Reader;
