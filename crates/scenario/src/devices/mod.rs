//! Choice of devices, as NVIDIA's memMapIPCDrv and simpleIPC samples make it.

mod choice;
mod meeting;
mod peers;
mod select;

pub use choice::{DeviceChoice, ParseDeviceError};
pub use meeting::{InCommon, NoneInCommon, devices_in_common};
pub use select::find_device;
pub(crate) use select::{Chosen, Need, SelectError, Selection, Terms, select};

/// The most devices that can take part, as in the sample.
pub(crate) const MAX_DEVICES: usize = 32;
