//! Two results compared: what became slower, and what cannot be said.

mod markdown;
mod matched;
mod sides;
mod table;

pub use matched::{Comparison, ComparisonOptions, Counts, Incomparable};
pub use sides::{Compared, Side};
