//! The simulated driver behind the [`Driver`](peermap_driver::Driver) trait.
//!
//! The rules are in `peermap-model`, the bytes in `peermap-memory`, kernels run in `peermap-exec`; this crate brings them
//! together and gives them threads, descriptors and processes.
//!
//! - [`SimMachine`] is a machine inside one OS process. [`SimMachine::process`] makes a simulated process of it, and
//!   [`SimProcess::thread`] a host thread of that, so that one test thread can play many.
//! - [`serve`] is the same machine as an OS process of its own. [`MachineClient`] lets processes join it, and
//!   [`SimProcess::join`] is such a process.
//!
//! Nothing else differs: both carry the same questions and answers of the model, and an exported handle is a real
//! descriptor in both.
//!
//! # Portability
//! Simulated memory is host memory. What is written is charged to a budget; memory that the host cannot back ends as
//! [`DriverError::Host`](peermap_driver::DriverError::Host), never as SIGBUS.

mod account;
mod alloc;
mod code;
mod context;
mod copy;
mod cpu;
mod data;
mod device;
mod driver;
mod exports;
mod handle;
mod host;
mod jit;
mod launch;
mod library;
mod link;
mod machine;
mod memory;
mod module;
mod multicast;
mod operation;
mod pinned;
mod pool;
mod printed;
mod process;
mod protocol;
mod run;
mod server;
mod service;
mod share;
#[cfg(test)]
mod stranger;
mod stream;
mod tables;
mod turn;
mod waiting;
mod windows;

pub use peermap_exec::{Check, Checks, UnknownCheck};

pub use account::accounts;
pub use host::{MachineOptions, SimError, default_host_memory, descriptors_needed};
pub use machine::SimMachine;
pub use multicast::TEAM_TIME;
pub use process::{SimProcess, SimThread};
pub use server::{MachineClient, serve};
