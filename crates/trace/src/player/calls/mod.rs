//! The calls of the format, by group: each function takes the arguments of a step, makes the call and gives what the
//! recordings compare.

mod address;
mod context;
mod copy;
mod launch;
mod memory;
mod os;
mod share;
mod stream;
mod table;

pub(super) use os::os_step;
pub(super) use table::driver_call;
