//! Children that are threads of this process.

use std::fmt;
use std::os::fd::BorrowedFd;

use super::exit::Exit;

/// A child that somebody plays: no process of its own, and watched like one.
pub trait Played: fmt::Debug + Send {
    /// The number that stands for its process id.
    fn pid(&self) -> u32;

    /// A descriptor that becomes readable when it ends.
    fn end(&self) -> BorrowedFd<'_>;

    /// How it ended, if it has.
    fn exit(&self) -> Option<Exit>;

    /// Ends it as `SIGKILL` does. One that has ended already stays as it is.
    fn kill(&self);
}
