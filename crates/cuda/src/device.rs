//! The driver itself, and its devices.

use std::ffi::{CStr, c_char};

use peermap_driver::{ByteSize, CuResult, Device, DeviceAttribute, DriverError, Result, Uuid};

use crate::driver::CudaDriver;

impl CudaDriver {
    pub(crate) fn init(&self, flags: u32) -> Result<()> {
        // SAFETY: `cuInit` takes a number and may be called at any time, and again.
        unsafe { self.library.init(flags) }
    }

    pub(crate) fn driver_get_version(&self) -> Result<i32> {
        let mut version = 0;
        // SAFETY: `cuDriverGetVersion` writes one `int`, and needs no `cuInit`.
        unsafe { self.library.driver_get_version(&raw mut version) }?;
        Ok(version)
    }

    pub(crate) fn get_error_name(&self, error: CuResult) -> Result<String> {
        let mut text = std::ptr::null();
        // SAFETY: `cuGetErrorName` writes one pointer, and takes any code.
        unsafe { self.library.get_error_name(error.code(), &raw mut text) }?;
        // SAFETY: `cuGetErrorName` gives a string that ends in zero and lives as long as the library.
        unsafe { string_at(text) }
    }

    pub(crate) fn get_error_string(&self, error: CuResult) -> Result<String> {
        let mut text = std::ptr::null();
        // SAFETY: `cuGetErrorString` writes one pointer, and takes any code.
        unsafe { self.library.get_error_string(error.code(), &raw mut text) }?;
        // SAFETY: `cuGetErrorString` gives a string that ends in zero and lives as long as the library.
        unsafe { string_at(text) }
    }

    pub(crate) fn device_get_count(&self) -> Result<i32> {
        let mut count = 0;
        // SAFETY: `cuDeviceGetCount` writes one `int`.
        unsafe { self.library.device_get_count(&raw mut count) }?;
        Ok(count)
    }

    pub(crate) fn device_get(&self, ordinal: i32) -> Result<Device> {
        let mut device = 0;
        // SAFETY: `cuDeviceGet` writes one `CUdevice`, which is an `int`, and checks the ordinal.
        unsafe { self.library.device_get(&raw mut device, ordinal) }?;
        Ok(Device(device))
    }

    pub(crate) fn device_get_name(&self, device: Device) -> Result<String> {
        let mut name = [0u8; 256];
        // SAFETY: `cuDeviceGetName` writes at most `len` bytes, the zero at the end included.
        unsafe { self.library.device_get_name(name.as_mut_ptr().cast(), 256, device.0) }?;
        Ok(text(&name))
    }

    pub(crate) fn device_get_uuid(&self, device: Device) -> Result<Uuid> {
        let mut uuid = [0; 16];
        // SAFETY: `cuDeviceGetUuid` writes one `CUuuid`, which is 16 bytes.
        unsafe { self.library.device_get_uuid(&raw mut uuid, device.0) }?;
        Ok(Uuid(uuid))
    }

    pub(crate) fn device_get_pci_bus_id(&self, device: Device) -> Result<String> {
        // "[domain]:[bus]:[device].[function]": the manual asks for room for 13 characters.
        let mut id = [0u8; 32];
        // SAFETY: `cuDeviceGetPCIBusId` writes at most `len` bytes, the zero at the end included.
        unsafe { self.library.device_get_pci_bus_id(id.as_mut_ptr().cast(), 32, device.0) }?;
        Ok(text(&id))
    }

    pub(crate) fn device_get_attribute(&self, attribute: DeviceAttribute, device: Device) -> Result<i32> {
        let mut value = 0;
        // SAFETY: `cuDeviceGetAttribute` writes one `int`, and checks attribute and device.
        unsafe { self.library.device_get_attribute(&raw mut value, attribute.code(), device.0) }?;
        Ok(value)
    }

    pub(crate) fn device_total_mem(&self, device: Device) -> Result<ByteSize> {
        let mut bytes = 0;
        // SAFETY: `cuDeviceTotalMem_v2` writes one `size_t`.
        unsafe { self.library.device_total_mem(&raw mut bytes, device.0) }?;
        Ok(ByteSize::new(bytes))
    }

    pub(crate) fn device_can_access_peer(&self, device: Device, peer: Device) -> Result<bool> {
        let mut can = 0;
        // SAFETY: `cuDeviceCanAccessPeer` writes one `int`.
        unsafe { self.library.device_can_access_peer(&raw mut can, device.0, peer.0) }?;
        Ok(can != 0)
    }
}

/// The text before the first zero byte.
pub(crate) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// A string of the driver. Null, which older drivers gave for an unknown code, is `INVALID_VALUE`.
///
/// # Safety
/// `start` is null, or points to bytes that end in zero and do not change.
unsafe fn string_at(start: *const c_char) -> Result<String> {
    if start.is_null() {
        return Err(DriverError::refused(CuResult::INVALID_VALUE));
    }
    // SAFETY: the caller vouches for a string that ends in zero.
    let text = unsafe { CStr::from_ptr(start) };
    Ok(text.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_at_its_first_zero_or_with_its_buffer() {
        assert_eq!(text(b"NVIDIA H200\0\0junk"), "NVIDIA H200");
        assert_eq!(text(b"full"), "full");
        assert_eq!(text(b""), "");
    }

    #[test]
    fn a_null_string_is_a_refusal() {
        // SAFETY: null is allowed.
        let answer = unsafe { string_at(std::ptr::null()) };
        assert_eq!(answer, Err(DriverError::refused(CuResult::INVALID_VALUE)));
    }
}
