//! What machine a backend shows.

use std::time::Duration;

use peermap_driver::{Device, Driver};
use serde::{Deserialize, Serialize};

use super::coordinator::RemoteProcess;
use super::launch::Launch;
use crate::player::StartError;

/// The machine as the driver of a player shows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Description {
    /// How many devices there are.
    pub devices: u32,
    /// What the first of them is called.
    pub model: String,
    /// The version of CUDA that the driver supports, such as 13000.
    pub cuda: u32,
    /// Whether the first device can reach the memory of the second.
    pub are_peers: bool,
}

impl Description {
    pub(super) fn of(driver: &dyn Driver) -> peermap_driver::Result<Self> {
        driver.init(0)?;
        let devices = driver.device_get_count()?;
        Ok(Self {
            devices: devices.try_into().unwrap_or(0),
            model: driver.device_get_name(Device(0))?,
            cuda: driver.driver_get_version()?.try_into().unwrap_or(0),
            are_peers: devices > 1 && driver.device_can_access_peer(Device(0), Device(1))?,
        })
    }
}

/// Asks a player of its own what machine a backend shows, so that this OS process stays without a driver.
///
/// # Errors
/// If there is no player, no driver or no device.
pub fn describe(launch: &dyn Launch, limit: Duration) -> Result<Description, StartError> {
    let mut player = RemoteProcess::start(0, launch, limit)?;
    let description = player.describe();
    player.exit();
    description
}
