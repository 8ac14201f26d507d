//! Initialisation and devices.

use peermap_driver::{ByteSize, CuResult, Device, DeviceAttribute, Result, Uuid};

use super::Process;
use super::mapping::RightsMap;
use crate::profile::DeviceProfile;
use crate::rules;

impl Process {
    /// `cuInit`.
    ///
    /// # Errors
    /// INIT-2, INIT-3.
    pub fn init(&mut self, flags: u32) -> Result<()> {
        if flags != 0 && rules::INIT_2.is_on() {
            return Err(rules::INIT_2.refuse(&[("flags", &flags)], None));
        }
        if self.visible.is_empty() && rules::INIT_3.is_on() {
            return Err(rules::INIT_3.refuse(&[], None));
        }
        self.visible.truncate(RightsMap::DEVICES);
        self.initialised = true;
        Ok(())
    }

    /// `cuDriverGetVersion`.
    #[must_use]
    pub fn driver_get_version(&self) -> i32 {
        self.profile.cuda_version
    }

    /// `cuGetErrorName`.
    ///
    /// # Errors
    /// ERROR-1.
    pub fn get_error_name(&self, error: CuResult) -> Result<String> {
        match error.short_name() {
            Some(_) => Ok(error.name()),
            None => Err(rules::ERROR_1.refuse(&[("code", &error.code())], None)),
        }
    }

    /// `cuGetErrorString`: the name in small words.
    ///
    /// # Errors
    /// ERROR-1.
    pub fn get_error_string(&self, error: CuResult) -> Result<String> {
        match error.short_name() {
            Some("SUCCESS") => Ok("no error".to_owned()),
            Some(name) => Ok(name.to_ascii_lowercase().replace('_', " ")),
            None => Err(rules::ERROR_1.refuse(&[("code", &error.code())], None)),
        }
    }

    /// `cuDeviceGetCount`.
    #[must_use]
    pub fn device_get_count(&self) -> i32 {
        i32::try_from(self.visible.len()).unwrap_or(i32::MAX)
    }

    /// `cuDeviceGet`.
    ///
    /// # Errors
    /// DEVICE-1.
    pub fn device_get(&self, ordinal: i32) -> Result<Device> {
        self.device(Device(ordinal)).map(|_| Device(ordinal))
    }

    /// The profile of a device that this process sees.
    pub(super) fn device(&self, device: Device) -> Result<&DeviceProfile> {
        self.device_of(device.0)
            .and_then(|index| self.profile.devices.get(usize::from(index)))
            .ok_or_else(|| rules::DEVICE_1.refuse(&[("device", &device), ("count", &self.device_get_count())], None))
    }

    /// `cuDeviceGetName`.
    ///
    /// # Errors
    /// DEVICE-1.
    pub fn device_get_name(&self, device: Device) -> Result<String> {
        Ok(self.device(device)?.name.clone())
    }

    /// `cuDeviceGetUuid`.
    ///
    /// # Errors
    /// DEVICE-1.
    pub fn device_get_uuid(&self, device: Device) -> Result<Uuid> {
        Ok(self.device(device)?.uuid)
    }

    /// `cuDeviceGetPCIBusId`.
    ///
    /// # Errors
    /// DEVICE-1.
    pub fn device_get_pci_bus_id(&self, device: Device) -> Result<String> {
        Ok(self.device(device)?.pci_bus_id.clone())
    }

    /// `cuDeviceGetAttribute`.
    ///
    /// # Errors
    /// DEVICE-1, DEVICE-2.
    pub fn device_get_attribute(&self, attribute: DeviceAttribute, device: Device) -> Result<i32> {
        let profile = self.device(device)?;
        profile.attribute(attribute).ok_or_else(|| rules::DEVICE_2.refuse(&[("attribute", &attribute)], None))
    }

    /// `cuDeviceTotalMem`.
    ///
    /// # Errors
    /// DEVICE-1.
    pub fn device_total_mem(&self, device: Device) -> Result<ByteSize> {
        Ok(self.device(device)?.total)
    }

    /// `cuDeviceCanAccessPeer`.
    ///
    /// # Errors
    /// DEVICE-1.
    pub fn device_can_access_peer(&self, device: Device, peer: Device) -> Result<bool> {
        self.device(device)?;
        self.device(peer)?;
        Ok(match (self.device_of(device.0), self.device_of(peer.0)) {
            (Some(device), Some(peer)) => self.profile.connected(device, peer),
            _ => false,
        })
    }
}
