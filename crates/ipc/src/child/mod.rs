//! Children that die with their parent and are always reaped.
//!
//! A [`Spawn`] describes a child, [`Spawn::spawn`] starts it (fork and exec, never fork alone), and the [`Child`] that
//! comes back kills and reaps it when dropped. [`wait_any`] waits for several children and descriptors at once. In the
//! child, [`take_inherited`] picks up the descriptors that the parent handed over.

mod error;
mod exit;
mod fork;
mod handover;
mod introduction;
mod pause;
mod played;
mod process;
mod spawn;
mod wait_any;

pub use error::ChildError;
pub use exit::{Exit, exit_now};
pub use fork::{forked, forks};
pub use handover::take_inherited;
pub use pause::pause_process;
pub use played::Played;
pub use process::Child;
pub use spawn::{Output, Spawn};
pub use wait_any::{Event, has_ended, wait_any};
