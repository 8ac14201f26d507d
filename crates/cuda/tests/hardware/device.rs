//! The driver itself, and its devices.

use peermap_driver::{ByteSize, CuResult, Device, DeviceAttribute, Driver, Uuid};

use crate::rig::{DEVICE, driver, refused};

fn attribute(attribute: DeviceAttribute) -> i32 {
    driver().device_get_attribute(attribute, DEVICE).expect("an attribute of every device")
}

pub fn init_may_be_called_again() {
    assert_eq!(driver().init(0), Ok(()));
    assert_eq!(driver().init(0), Ok(()));
    assert!(driver().driver_get_version().expect("a version") >= 11_000);
}

pub fn a_device_says_who_it_is() {
    assert!(driver().device_get_count().expect("a count") >= 1);
    assert_eq!(driver().device_get(0), Ok(DEVICE));

    let name = driver().device_get_name(DEVICE).expect("a name");
    assert!(!name.is_empty() && name.chars().all(|c| c.is_ascii_graphic() || c == ' '), "{name:?}");

    let uuid = driver().device_get_uuid(DEVICE).expect("an identity");
    assert_ne!(uuid, Uuid([0; 16]));
    assert_eq!(driver().device_get_uuid(DEVICE), Ok(uuid));

    assert!(driver().device_total_mem(DEVICE).expect("a size") >= ByteSize::gib(1));
}

pub fn the_bus_id_agrees_with_the_attributes() {
    let id = driver().device_get_pci_bus_id(DEVICE).expect("a place on the bus");
    let expected = format!(
        "{:04x}:{:02x}:{:02x}.0",
        attribute(DeviceAttribute::PCI_DOMAIN_ID),
        attribute(DeviceAttribute::PCI_BUS_ID),
        attribute(DeviceAttribute::PCI_DEVICE_ID)
    );
    assert!(id.eq_ignore_ascii_case(&expected), "{id} is not {expected}");
}

pub fn attributes_are_numbers_and_unknown_ones_are_refused() {
    assert_eq!(attribute(DeviceAttribute::WARP_SIZE), 32);
    assert_eq!(attribute(DeviceAttribute::VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED), 1);
    assert_eq!(attribute(DeviceAttribute::HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED), 1);
    let unknown = driver().device_get_attribute(DeviceAttribute::new(99_999), DEVICE);
    assert_eq!(unknown, refused(CuResult::INVALID_VALUE));
}

pub fn a_device_that_is_not_there_is_refused() {
    let count = driver().device_get_count().expect("a count");
    assert_eq!(driver().device_get(count), refused(CuResult::INVALID_DEVICE));
    assert_eq!(driver().ctx_create(0, Device(count)), refused(CuResult::INVALID_DEVICE));
    assert_eq!(driver().device_can_access_peer(DEVICE, Device(count)), refused(CuResult::INVALID_DEVICE));
}

pub fn no_device_is_its_own_peer() {
    assert_eq!(driver().device_can_access_peer(DEVICE, DEVICE), Ok(false));
}

pub fn the_driver_gives_codes_the_names_they_have_here() {
    assert_eq!(driver().get_error_name(CuResult::SUCCESS).as_deref(), Ok("CUDA_SUCCESS"));
    assert_eq!(driver().get_error_string(CuResult::INVALID_VALUE).as_deref(), Ok("invalid argument"));
    // An older driver does not know the newest codes.
    let known = CuResult::ALL.iter().filter_map(|code| Some((*code, driver().get_error_name(*code).ok()?)));
    let differing: Vec<_> = known.filter(|(code, name)| code.name() != *name).collect();
    assert_eq!(differing, []);
}

pub fn a_code_without_a_name_is_refused() {
    assert_eq!(driver().get_error_name(CuResult::new(123_456)), refused(CuResult::INVALID_VALUE));
    assert_eq!(driver().get_error_string(CuResult::new(123_456)), refused(CuResult::INVALID_VALUE));
}
