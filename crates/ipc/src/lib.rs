//! Descriptors, typed packets, shared memory, barriers and supervised children on Linux.
//!
//! This crate holds what several operating-system processes need in order to work together, and nothing that knows of
//! GPUs. It uses no other peermap crate, and it is the only one with unsafe code about the operating system.
//!
//! | module | what it gives |
//! | --- | --- |
//! | [`channel`] | packets of bytes with descriptors over a Unix socket |
//! | [`packet`] | values instead of bytes, and any number of descriptors in acknowledged batches |
//! | [`private`] | an address that only those know who were told it |
//! | [`Window`] | a place where a process shows something to all processes of its user |
//! | [`whereabouts`] | in which processes a pipe is open, and which have a variable |
//! | [`shm`] | sealed anonymous shared memory, seen as atomics |
//! | [`Slots`] | bytes for each process, in shared memory |
//! | [`barrier`] | a barrier between processes whose timeout names who is missing |
//! | [`child`] | children that die with their parent and are always reaped |
//! | [`limits`] | what the host allows: open files, memory, cores |
//! | [`stage`] | threads that play processes |
//! | [`clock`] | a clock that all processes of the host share |
//!
//! Every call that may wait takes a [`Deadline`].
//!
//! # Portability
//! Linux on 64-bit machines, kernel 5.3 or newer (`pidfd_open`).

pub mod barrier;
pub mod channel;
#[cfg(test)]
mod checked;
pub mod child;
pub mod clock;
mod deadline;
mod error;
pub mod limits;
pub mod packet;
pub mod private;
mod ready;
pub mod shm;
mod slots;
pub mod stage;
mod token;
pub mod whereabouts;
mod window;
mod word;

pub use barrier::{Barrier, BarrierError, Member};
pub use channel::{Channel, Fate, MAX_FDS_PER_MESSAGE, MAX_PAYLOAD, PeerCredentials, Received, Tap};
pub use child::{
    Child, ChildError, Event, Exit, Output, Played, Spawn, exit_now, forked, forks, has_ended, pause_process,
    take_inherited, wait_any,
};
pub use deadline::Deadline;
pub use error::IpcError;
pub use limits::LimitError;
pub use packet::{PacketError, TypedChannel};
pub use private::{PrivateAddress, PrivateListener};
pub use shm::{SharedMemory, ShmError};
pub use slots::Slots;
pub use window::{Shown, Window};
