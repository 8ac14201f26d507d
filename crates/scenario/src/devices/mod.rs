//! Choice of devices, as NVIDIA's memMapIPCDrv sample makes it.

mod choice;
mod peers;
mod select;

pub use choice::{DeviceChoice, ParseDeviceError};
pub use select::find_device;
pub(crate) use select::{Chosen, SelectError, Selection, select};

/// The most devices that can take part, as in the sample.
pub(crate) const MAX_DEVICES: usize = 32;
