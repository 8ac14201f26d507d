//! Devices that did not take part, in words: those with the same reason together.

use serde::{Deserialize, Serialize};

/// A device that did not take part in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedDevice {
    /// The device, as a user knows it.
    pub device: String,
    /// Why not.
    pub reason: String,
}

/// Devices that did not take part for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The devices, as a user knows them.
    pub devices: Vec<String>,
    /// Why not.
    pub reason: String,
}

impl Rejection {
    /// Puts devices with the same reason together, in the order of their first ones.
    #[must_use]
    pub fn fold(rejected: &[RejectedDevice]) -> Vec<Self> {
        let mut folded: Vec<Self> = Vec::new();
        for RejectedDevice { device, reason } in rejected.iter().cloned() {
            match folded.iter_mut().find(|one| one.reason == reason) {
                Some(one) => one.devices.push(device),
                None => folded.push(Self { devices: vec![device], reason }),
            }
        }
        folded
    }
}

/// The names of devices, with numbers that follow each other as ranges: `devices 1, 4 to 71`.
#[must_use]
pub fn device_list(devices: &[String]) -> String {
    let number = |device: &String| device.strip_prefix("device ").and_then(|number| number.parse::<u32>().ok());
    let numbers: Option<Vec<u32>> = devices.iter().map(number).collect();
    match numbers {
        Some(numbers) if numbers.len() > 1 => format!("devices {}", ranges(&numbers)),
        // One device, or names of another kind.
        _ => devices.join(", "),
    }
}

fn ranges(numbers: &[u32]) -> String {
    let follows = |one: &u32, next: &u32| one.checked_add(1) == Some(*next);
    let range = |range: &[u32]| match range {
        [first, _, .., last] => format!("{first} to {last}"),
        few => few.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    };
    numbers.chunk_by(follows).map(range).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(numbers: impl IntoIterator<Item = u32>) -> Vec<String> {
        numbers.into_iter().map(|number| format!("device {number}")).collect()
    }

    #[test]
    fn numbers_that_follow_each_other_are_a_range() {
        assert_eq!(device_list(&devices(4..72)), "devices 4 to 71");
        assert_eq!(device_list(&devices([1, 2, 4, 6, 7, 8])), "devices 1, 2, 4, 6 to 8");
        assert_eq!(device_list(&devices([7])), "device 7");
        assert_eq!(device_list(&["GPU-1".to_owned(), "device 2".to_owned()]), "GPU-1, device 2");
    }

    #[test]
    fn devices_with_the_same_reason_stand_together() {
        let rejected = [(1, "no peer"), (2, "too many"), (3, "no peer")]
            .map(|(number, reason)| RejectedDevice { device: format!("device {number}"), reason: reason.to_owned() });
        let folded = Rejection::fold(&rejected);
        let shown: Vec<_> = folded.iter().map(|one| (device_list(&one.devices), one.reason.as_str())).collect();
        assert_eq!(shown, [("devices 1, 3".to_owned(), "no peer"), ("device 2".to_owned(), "too many")]);
    }
}
