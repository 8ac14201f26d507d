//! Rounds of a barrier between processes, by members and by the cores that they share: members that sleep beside members that
//! spin.

mod meeting;
mod member;
mod spinning;
mod suite;

pub use meeting::Meeting;
pub(crate) use member::AnyMember;
pub use member::Kind;
pub(crate) use suite::BarrierSuite;
