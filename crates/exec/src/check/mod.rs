//! Mistakes that neither the driver nor the hardware tells, found while a kernel runs.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `checks.rs` | which checks there are, and their names |
//! | `finding.rs` | what they find |
//! | `watch.rs` | what is looked at before a step is carried out |
//! | `history.rs` | what launches that were under way together did |
//! | `order.rs` | which writes are known to come before others |
//! | `written.rs` | who wrote each byte last |
//! | `store.rs` | what the lanes of a store write, and where |
//! | `origins.rs` | which parameters an address is computed from |
//! | `bounds.rs` | the buffers that those parameters point into |
//!
//! A launch without checks asks once for each step whether there are any. One with checks runs its blocks on one core, so
//! that it finds the same each time. Whatever may be right is taken to be right: a check keeps silent rather than find a
//! mistake where there is none.

mod bounds;
mod checks;
mod finding;
mod history;
mod order;
mod origins;
mod store;
mod watch;
mod written;

pub use checks::{Check, Checks, UnknownCheck};
pub use finding::{Finding, Party, Writer};
pub use history::History;
pub(crate) use origins::Origins;
pub(crate) use watch::{Moment, Watch};
