//! Initialisation and devices.

use peermap_driver::{ByteSize, Call, CuResult, Device, DeviceAttribute, Result, Uuid};
use peermap_model::ThreadId;

use crate::process::Inner;

impl Inner {
    pub(crate) fn init(&self, _: ThreadId, flags: u32) -> Result<()> {
        self.call(Call::cuInit, |process, _| process.init(flags))
    }

    pub(crate) fn driver_get_version(&self, _: ThreadId) -> Result<i32> {
        self.call(Call::cuDriverGetVersion, |process, _| Ok(process.driver_get_version()))
    }

    pub(crate) fn get_error_name(&self, _: ThreadId, error: CuResult) -> Result<String> {
        self.call(Call::cuGetErrorName, |process, _| process.get_error_name(error))
    }

    pub(crate) fn get_error_string(&self, _: ThreadId, error: CuResult) -> Result<String> {
        self.call(Call::cuGetErrorString, |process, _| process.get_error_string(error))
    }

    pub(crate) fn device_get_count(&self, _: ThreadId) -> Result<i32> {
        self.call(Call::cuDeviceGetCount, |process, _| Ok(process.device_get_count()))
    }

    pub(crate) fn device_get(&self, _: ThreadId, ordinal: i32) -> Result<Device> {
        self.call(Call::cuDeviceGet, |process, _| process.device_get(ordinal))
    }

    pub(crate) fn device_get_name(&self, _: ThreadId, device: Device) -> Result<String> {
        self.call(Call::cuDeviceGetName, |process, _| process.device_get_name(device))
    }

    pub(crate) fn device_get_uuid(&self, _: ThreadId, device: Device) -> Result<Uuid> {
        self.call(Call::cuDeviceGetUuid, |process, _| process.device_get_uuid(device))
    }

    pub(crate) fn device_get_pci_bus_id(&self, _: ThreadId, device: Device) -> Result<String> {
        self.call(Call::cuDeviceGetPCIBusId, |process, _| process.device_get_pci_bus_id(device))
    }

    pub(crate) fn device_get_attribute(&self, _: ThreadId, attribute: DeviceAttribute, device: Device) -> Result<i32> {
        self.call(Call::cuDeviceGetAttribute, |process, _| process.device_get_attribute(attribute, device))
    }

    pub(crate) fn device_total_mem(&self, _: ThreadId, device: Device) -> Result<ByteSize> {
        self.call(Call::cuDeviceTotalMem, |process, _| process.device_total_mem(device))
    }

    pub(crate) fn device_can_access_peer(&self, _: ThreadId, device: Device, peer: Device) -> Result<bool> {
        self.call(Call::cuDeviceCanAccessPeer, |process, _| process.device_can_access_peer(device, peer))
    }
}
