//! A second process, for what only two processes can do: share memory, meet at a barrier, start.
//!
//! A partner is the executable of whoever measures, started again so that it calls [`partner_main`]. It does what it is
//! [told](order::Order) and says how long that took; it dies with the process that started it.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `order.rs` | what both say to each other |
//! | `work.rs` | the partner's side |
//! | `share.rs` | the partner's side of sharing: imports, opened and lent memory |
//! | `hand.rs` | the side of who measures |
//! | `pair.rs` | a driver of this process and a partner on one machine |

mod hand;
mod order;
mod pair;
mod share;
mod work;

pub use hand::Partner;
pub(crate) use order::{Order, Reach};
pub(crate) use pair::Pair;
pub use work::partner_main;
