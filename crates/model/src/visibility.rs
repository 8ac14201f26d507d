//! `CUDA_VISIBLE_DEVICES`: which devices a process sees, in which order.

use peermap_driver::Uuid;

use crate::profile::Profile;

/// The machine's devices that a process of a node sees, with a value of `CUDA_VISIBLE_DEVICES`: those of its node, or all
/// if it is put on none.
#[must_use]
pub fn devices_seen(profile: &Profile, node: Option<u16>, setting: Option<&str>) -> Vec<u16> {
    let there: Vec<u16> = match node {
        Some(node) => profile.devices_of(node).collect(),
        None => (0..).zip(&profile.devices).map(|(index, _)| index).collect(),
    };
    let uuids: Vec<_> = there.iter().map(|device| profile.devices[usize::from(*device)].uuid).collect();
    visible_devices(setting, &uuids).into_iter().map(|seen| there[usize::from(seen)]).collect()
}

/// The machine's devices that a process with this setting sees, in its order.
///
/// As the driver reads it: entries are separated by commas; an entry is an ordinal or the beginning of a UUID; the
/// first entry that names no device ends the list; a device that is named twice makes the list empty. Without the
/// setting all devices are seen.
///
/// # Source
/// CUDA C++ Programming Guide, "CUDA Environment Variables"
#[must_use]
pub fn visible_devices(setting: Option<&str>, devices: &[Uuid]) -> Vec<u16> {
    let Some(setting) = setting else {
        return (0..u16::try_from(devices.len()).unwrap_or(u16::MAX)).collect();
    };
    let mut visible = Vec::new();
    for entry in setting.split(',').map(str::trim) {
        let Some(index) = device_of(entry, devices) else { break };
        if visible.contains(&index) {
            return Vec::new();
        }
        visible.push(index);
    }
    visible
}

fn device_of(entry: &str, devices: &[Uuid]) -> Option<u16> {
    if entry.starts_with("GPU-") {
        let mut matching = (0u16..).zip(devices).filter(|(_, uuid)| uuid.to_string().starts_with(entry));
        let (index, _) = matching.next()?;
        return matching.next().is_none().then_some(index);
    }
    entry.parse().ok().filter(|index| usize::from(*index) < devices.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices() -> Vec<Uuid> {
        (0..4u8).map(|index| Uuid([index << 4; 16])).collect()
    }

    #[test]
    fn the_order_is_that_of_the_setting() {
        for (setting, expected) in [
            (None, vec![0, 1, 2, 3]),
            (Some("2,0"), vec![2, 0]),
            (Some(" 3 , 1 "), vec![3, 1]),
            (Some(""), vec![]),
            (Some("1,9,2"), vec![1]),
            (Some("1,x"), vec![1]),
            (Some("-1"), vec![]),
            (Some("1,1"), vec![]),
            (Some("GPU-20202020-2020-2020-2020-202020202020,GPU-10"), vec![2, 1]),
            (Some("GPU-"), vec![]),
        ] {
            assert_eq!(visible_devices(setting, &devices()), expected, "{setting:?}");
        }
    }
}
