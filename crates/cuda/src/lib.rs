//! The real NVIDIA driver behind [`peermap_driver::Driver`].
//!
//! [`CudaDriver::open`] looks for the driver library at run time, so this crate builds and links on machines that have
//! none, and says with an [`OpenError`] what is missing. Tests that need a device ask [`hardware_present`] while they
//! are listed.
//!
//! Every value crosses the border to the library as an integer, a pointer, or a C structure of integers: a code or type
//! that this crate does not know is a number like any other. A driver without one of the optional functions answers
//! `NOT_SUPPORTED` to that call.
//!
//! Multicast is closed: its calls answer `NOT_PERMITTED` unless `PEERMAP_ALLOW_MULTICAST=1` was set by the owner of the
//! machine. Managed memory is not here.
//!
//! # Safety
//! Methods of the trait that are safe can still end the process where the driver itself follows a handle that is gone
//! (HANDLE-1). Loading code runs what the code says: a cubin is read by the driver as far as its own headers say.
//!
//! # Portability
//! Linux on 64-bit machines. Structures have the layout that the drivers of CUDA 11.0 to 13.x share.

mod alloc;
mod context;
mod copy;
mod cpu;
mod device;
mod driver;
mod event;
mod jit;
mod launch;
mod layout;
mod library;
mod memory;
mod module;
mod multicast;
mod open;
mod pool;
mod share;
mod stream;

pub use driver::CudaDriver;
pub use open::{OpenError, hardware_present};
