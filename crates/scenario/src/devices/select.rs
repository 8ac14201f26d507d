//! Walks the devices and takes those that can work together.

use peermap_driver::{Device, DeviceAttribute, Driver, DriverError, Uuid};
use peermap_report::RejectedDevice;

use super::peers::Peers;
use super::{DeviceChoice, MAX_DEVICES};
use crate::error::UsageError;

/// A device that takes part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) device: Device,
    pub(crate) uuid: Uuid,
    pub(crate) name: String,
}

/// What a device needs in order to take part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Need {
    attribute: DeviceAttribute,
    /// One of these bits of the attribute has to be set.
    bits: i32,
    /// What it lacks otherwise, in words.
    lacking: &'static str,
}

impl Need {
    /// An attribute that is not 0.
    pub(crate) const fn new(attribute: DeviceAttribute, lacking: &'static str) -> Self {
        Self::bits(attribute, !0, lacking)
    }

    /// An attribute with one of these bits.
    pub(crate) const fn bits(attribute: DeviceAttribute, bits: i32, lacking: &'static str) -> Self {
        Self { attribute, bits, lacking }
    }
}

/// On what terms devices take part.
pub(crate) struct Terms<'a> {
    /// What each needs.
    pub(crate) needs: &'a [Need],
    /// Whether they must reach each other as peers; then there can be only so many.
    pub(crate) peers: bool,
    /// Tries whether one that has what it needs can take part, and gives the reason if it cannot.
    pub(crate) trial: &'a dyn Fn(Device) -> Result<Option<String>, DriverError>,
}

/// What the walk gave.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) chosen: Vec<Chosen>,
    pub(crate) rejected: Vec<RejectedDevice>,
}

/// Why there is no choice.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SelectError {
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// Nothing is left, or a device that was asked for cannot take part.
    #[error("no usable device")]
    NoneUsable { rejected: Vec<RejectedDevice> },
}

/// Chooses devices, in the order of their ordinals or, if devices are asked for, in that order.
///
/// A device takes part if it has what the scenario needs, lets several processes use it, and, if peers are asked for, is
/// connected both ways with every device chosen so far.
/// Without a wish others are passed over with a reason; a device that was asked for has to take part.
///
/// `enable_peers` does what the sample does besides: a context on each device, and peer access enabled both ways. Hardware
/// that allows only so many peers refuses there, and the device is passed over.
pub(crate) fn select(
    driver: &dyn Driver,
    wanted: Option<&[DeviceChoice]>,
    terms: &Terms<'_>,
    enable_peers: bool,
) -> Result<Selection, SelectError> {
    let there =
        (0..driver.device_get_count()?).map(|ordinal| driver.device_get(ordinal)).collect::<Result<Vec<_>, _>>()?;
    let candidates = match wanted {
        None => there,
        Some(wanted) => resolve(driver, wanted, &there)?,
    };
    let mut selection = Selection::default();
    let mut peers = enable_peers.then(|| Peers::new(driver));
    for device in candidates {
        match objection(driver, device, terms, &selection.chosen, peers.as_mut())? {
            Some(reason) => selection.rejected.push(RejectedDevice { device: device.to_string(), reason }),
            None => selection.chosen.push(chosen(driver, device)?),
        }
    }
    if let Some(peers) = peers {
        peers.finish()?;
    }
    let refused_a_wish = wanted.is_some() && !selection.rejected.is_empty();
    if selection.chosen.is_empty() || refused_a_wish {
        return Err(SelectError::NoneUsable { rejected: selection.rejected });
    }
    Ok(selection)
}

/// The device with this identity in the calling process.
///
/// # Errors
/// If the driver refuses to say which devices there are.
pub fn find_device(driver: &dyn Driver, uuid: Uuid) -> Result<Option<Device>, DriverError> {
    for ordinal in 0..driver.device_get_count()? {
        let device = driver.device_get(ordinal)?;
        if driver.device_get_uuid(device)? == uuid {
            return Ok(Some(device));
        }
    }
    Ok(None)
}

fn chosen(driver: &dyn Driver, device: Device) -> Result<Chosen, DriverError> {
    Ok(Chosen { device, uuid: driver.device_get_uuid(device)?, name: driver.device_get_name(device)? })
}

/// Finds the devices that were asked for.
fn resolve(driver: &dyn Driver, wanted: &[DeviceChoice], there: &[Device]) -> Result<Vec<Device>, SelectError> {
    if wanted.is_empty() {
        return Err(UsageError::NoDevices.into());
    }
    if wanted.len() > there.len() {
        return Err(UsageError::TooManyDevices { asked: wanted.len(), there: there.len() }.into());
    }
    let mut devices = Vec::new();
    for choice in wanted {
        let found = match choice {
            DeviceChoice::Ordinal(ordinal) => there.iter().copied().find(|device| device.0 == *ordinal),
            DeviceChoice::Uuid(uuid) => find_device(driver, *uuid)?,
        };
        let Some(device) = found else {
            let known = there.iter().map(|device| device.0.to_string()).collect();
            return Err(UsageError::UnknownDevice { choice: *choice, known }.into());
        };
        if devices.contains(&device) {
            return Err(UsageError::DuplicateDevice { device: device.to_string() }.into());
        }
        devices.push(device);
    }
    Ok(devices)
}

/// Why a device cannot take part beside those chosen so far. It is said of one device or of many.
fn objection(
    driver: &dyn Driver,
    device: Device,
    terms: &Terms<'_>,
    chosen: &[Chosen],
    peers: Option<&mut Peers<'_>>,
) -> Result<Option<String>, DriverError> {
    if terms.peers && chosen.len() == MAX_DEVICES {
        return Ok(Some(format!("{MAX_DEVICES} devices take part already, which is the most")));
    }
    for Need { attribute, bits, lacking } in terms.needs {
        if driver.device_get_attribute(*attribute, device)? & bits == 0 {
            return Ok(Some((*lacking).to_owned()));
        }
    }
    let mode = driver.device_get_attribute(DeviceAttribute::COMPUTE_MODE, device)?;
    if mode != 0 {
        return Ok(Some(format!(
            "the compute mode is {mode}, and only the default mode (0) lets several processes use a device"
        )));
    }
    if let Some(reason) = (terms.trial)(device)? {
        return Ok(Some(reason));
    }
    for other in chosen.iter().map(|chosen| chosen.device).filter(|_| terms.peers) {
        if !driver.device_can_access_peer(device, other)? || !driver.device_can_access_peer(other, device)? {
            return Ok(Some(format!("no peer access both ways with {other}")));
        }
    }
    match peers {
        Some(peers) => peers.add(device),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exported::NEEDS;
    use crate::mock::{MockDevice, MockDriver};

    const TERMS: Terms<'_> = Terms { needs: NEEDS, peers: true, trial: &|_| Ok(None) };

    fn ordinals(selection: &Selection) -> Vec<i32> {
        selection.chosen.iter().map(|chosen| chosen.device.0).collect()
    }

    fn reasons(rejected: &[RejectedDevice]) -> Vec<(&str, &str)> {
        rejected.iter().map(|one| (one.device.as_str(), one.reason.as_str())).collect()
    }

    fn choices(ordinals: &[i32]) -> Vec<DeviceChoice> {
        ordinals.iter().map(|ordinal| DeviceChoice::Ordinal(*ordinal)).collect()
    }

    #[test]
    fn devices_that_are_fit_and_connected_are_all_taken() {
        let driver = MockDriver::with_devices(4);
        let selection = select(&driver, None, &TERMS, false).unwrap();
        assert_eq!(ordinals(&selection), [0, 1, 2, 3]);
        assert_eq!(selection.rejected, []);
    }

    #[test]
    fn each_unfit_device_is_named_with_its_reason() {
        let driver = MockDriver::with_devices(5)
            .device(0, MockDevice { virtual_memory: 0, ..MockDevice::default() })
            .device(1, MockDevice { unified_addressing: 0, ..MockDevice::default() })
            .device(2, MockDevice { compute_mode: 3, ..MockDevice::default() })
            .device(3, MockDevice { posix_fd: 0, ..MockDevice::default() });
        let selection = select(&driver, None, &TERMS, false).unwrap();
        assert_eq!(ordinals(&selection), [4]);
        assert_eq!(
            reasons(&selection.rejected),
            [
                ("device 0", "no virtual memory management"),
                ("device 1", "no unified addressing"),
                (
                    "device 2",
                    "the compute mode is 3, and only the default mode (0) lets several processes use a device"
                ),
                ("device 3", "memory cannot be shared as a file descriptor"),
            ]
        );
    }

    #[test]
    fn a_device_that_is_not_connected_both_ways_is_passed_over_and_the_rest_runs() {
        let driver = MockDriver::with_devices(3).one_way(1, 0);
        let selection = select(&driver, None, &TERMS, false).unwrap();
        assert_eq!(ordinals(&selection), [0, 2]);
        assert_eq!(reasons(&selection.rejected), [("device 1", "no peer access both ways with device 0")]);
    }

    #[test]
    fn the_thirty_third_device_is_passed_over() {
        let selection = select(&MockDriver::with_devices(33), None, &TERMS, false).unwrap();
        assert_eq!(selection.chosen.len(), 32);
        assert_eq!(reasons(&selection.rejected), [("device 32", "32 devices take part already, which is the most")]);
    }

    #[test]
    fn wishes_are_taken_in_their_order_and_by_either_name() {
        let driver = MockDriver::with_devices(3);
        let uuid = driver.device_get_uuid(Device(0)).unwrap();
        let selection =
            select(&driver, Some(&[DeviceChoice::Ordinal(2), DeviceChoice::Uuid(uuid)]), &TERMS, false).unwrap();
        assert_eq!(ordinals(&selection), [2, 0]);
    }

    #[test]
    fn a_wish_that_cannot_be_granted_is_an_error() {
        let driver = MockDriver::with_devices(2).one_way(0, 1);
        let error = select(&driver, Some(&choices(&[0, 1])), &TERMS, false).unwrap_err();
        assert!(matches!(error, SelectError::NoneUsable { rejected } if rejected.len() == 1));
        let error = select(&driver, Some(&choices(&[5])), &TERMS, false).unwrap_err();
        assert_eq!(error.to_string(), "there is no device 5; the devices are 0, 1");
        let uuid = driver.device_get_uuid(Device(1)).unwrap();
        let error =
            select(&driver, Some(&[DeviceChoice::Ordinal(1), DeviceChoice::Uuid(uuid)]), &TERMS, false).unwrap_err();
        assert!(error.to_string().starts_with("device 1 is named twice"), "{error}");
        let error = select(&driver, Some(&choices(&[0, 1, 2])), &TERMS, false).unwrap_err();
        assert_eq!(error.to_string(), "3 devices are named in --devices, but there are 2");
        let error = select(&driver, Some(&[]), &TERMS, false).unwrap_err();
        assert!(matches!(error, SelectError::Usage(UsageError::NoDevices)));
    }

    #[test]
    fn no_device_at_all_is_an_error_without_reasons() {
        let error = select(&MockDriver::with_devices(0), None, &TERMS, false).unwrap_err();
        assert!(matches!(error, SelectError::NoneUsable { rejected } if rejected.is_empty()));
    }

    #[test]
    fn hardware_with_eight_peers_refuses_the_ninth_and_the_choice_copes() {
        let driver = MockDriver::with_devices(10).max_peers(8);
        let selection = select(&driver, None, &TERMS, true).unwrap();
        assert_eq!(ordinals(&selection), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(
            reasons(&selection.rejected),
            [("device 9", "peer access with device 0 is refused: CUDA_ERROR_TOO_MANY_PEERS")]
        );
        assert_eq!(driver.live_contexts(), 0);
    }

    #[test]
    fn without_enabled_peers_no_context_is_made() {
        let driver = MockDriver::with_devices(10).max_peers(8);
        assert_eq!(select(&driver, None, &TERMS, false).unwrap().chosen.len(), 10);
        assert_eq!(driver.contexts_made(), 0);
    }

    #[test]
    fn a_device_that_fails_its_trial_is_passed_over() {
        let trial = |device: Device| Ok((device == Device(1)).then(|| "no channel".to_owned()));
        let terms = Terms { needs: NEEDS, peers: true, trial: &trial };
        let selection = select(&MockDriver::with_devices(3), None, &terms, false).unwrap();
        assert_eq!(ordinals(&selection), [0, 2]);
        assert_eq!(reasons(&selection.rejected), [("device 1", "no channel")]);
    }

    #[test]
    fn devices_that_need_not_be_peers_are_all_taken() {
        let driver = MockDriver::with_devices(40).one_way(0, 1);
        let terms = Terms { peers: false, ..TERMS };
        assert_eq!(select(&driver, None, &terms, false).unwrap().chosen.len(), 40);
    }
}
