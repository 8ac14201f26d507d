//! The calls of the format, by group: each function takes the arguments of a step, makes the call and gives what the
//! recordings compare.

mod address;
mod context;
mod copy;
mod launch;
mod memory;
mod multicast;
mod os;
mod pool;
mod share;
mod stream;
mod table;

pub(crate) use address::{attribute_value, protection};
pub(crate) use copy::runs;
pub(crate) use launch::kernel_parameters;
pub(crate) use memory::properties_out;
pub(super) use os::{copy_of, os_step};
pub(super) use table::driver_call;
