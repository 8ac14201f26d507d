//! Simulated device memory: arenas, the table by granule, checked copy and fill.
//!
//! - A [`Budget`] is one shared page that says how much host memory all simulated devices together may take.
//! - An [`Arena`] is the memory of one device (or of one host NUMA node): a sparse memory file that several OS
//!   processes share.
//! - The [`device_window`] is the range of addresses that simulated devices hand out. It is really reserved, so no host
//!   pointer can equal a device address.
//! - A [`Table`] is the page table of one simulated process on one device: an entry per granule of the window.
//! - [`Switches`] say which memory of which devices a multicast address stands for.
//! - A [`View`] is a table together with the arenas. All access to bytes goes through it and is checked.
//!
//! This crate knows nothing of CUDA: handles, access rules and error codes belong to its callers.
//!
//! # Units
//!
//! Addresses, offsets and lengths are bytes in a `u64`. A *granule* is the smallest piece of memory that can be mapped:
//! a power of two, at least 4 KiB, normally 64 KiB or 2 MiB. A table and all arenas of a view have the same granule
//! size.
//!
//! # Safety
//!
//! The bytes of an arena are shared with other OS processes, which may change them at any time. Therefore no `&[u8]`
//! and no `&mut [u8]` over them ever exists: they are copied, filled and compared through raw pointers only, and the
//! atomic operations use real atomics. Two simulated kernels that race on plain bytes race here as well. That is the
//! simulated program's own error, and it is confined to values: a byte of an arena is never used as an address, a
//! length, an index or an enum, and nothing here reads a byte twice and relies on getting the same answer. Addresses
//! come from the table alone, whose entries are atomic. An arena stays mapped for as long as a view can reach it and
//! its file is sealed against a change of size, so a lookup that races with [`Table::clear`] reaches old bytes at
//! worst, never an unmapped page.
//!
//! # Portability
//!
//! Linux on 64-bit machines: memory files, seals and hole punching are used.

mod access;
mod arena;
mod atomics;
mod budget;
mod entry;
mod error;
mod file;
mod granule;
mod mapping;
mod marks;
mod span;
mod states;
mod switches;
mod table;
mod unwritten;
mod view;
mod window;
mod words;

pub use access::{Access, Fault, FaultKind};
pub use arena::Arena;
pub use budget::{Budget, HostMemory};
pub use entry::{Backing, Entry, Rights};
pub use error::{MemoryError, Part};
pub use granule::MINIMUM_GRANULE_BYTES;
pub use span::{Content, Span, Spans};
pub use switches::{Switches, Wire};
pub use table::Table;
pub use view::View;
pub use window::{DeviceWindow, MINIMUM_WINDOW_BYTES, PREFERRED_WINDOW_BYTES, WINDOW_ALIGNMENT, device_window};
pub use words::Difference;
