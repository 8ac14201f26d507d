//! Two results compared: what became slower, and what cannot be said.

mod floors;
mod junit;
mod markdown;
mod matched;
mod sides;
mod table;

pub use floors::FloorCheck;
pub use matched::{Comparison, ComparisonOptions, Counts, Incomparable};
pub use sides::{Compared, Side};
