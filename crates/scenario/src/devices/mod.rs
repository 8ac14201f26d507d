//! Choice of devices, as NVIDIA's memMapIPCDrv sample makes it.

mod choice;
mod peers;
mod select;

pub use choice::{DeviceChoice, ParseDeviceError};
pub(crate) use select::{Chosen, SelectError, Selection, find, select};

/// The most devices that can take part, as in the sample.
pub(crate) const MAX_DEVICES: usize = 32;
