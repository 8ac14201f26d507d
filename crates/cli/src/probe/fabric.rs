//! IMEX channels: what a process needs for fabric handles, besides the device.

use std::fs;
use std::path::Path;

use peermap_model::Profile;
use serde::Serialize;

const CHANNEL_FOLDER: &str = "/dev/nvidia-caps-imex-channels";
const DRIVER_NAME: &str = "nvidia-caps-imex-channels";

/// What this host has of IMEX.
#[derive(Debug, Serialize)]
pub(super) struct ImexFacts {
    /// The major number that the driver registered.
    pub(super) major: Option<u32>,
    /// Channel files, by path.
    pub(super) channels: Vec<String>,
    /// What its administrator can do where channels are missing. It is never done here.
    pub(super) remedies: Vec<String>,
}

/// The host that this runs on.
pub(super) fn of_this_host() -> ImexFacts {
    let major = fs::read_to_string("/proc/devices").ok().and_then(|text| major_number(&text));
    let mut channels: Vec<String> = fs::read_dir(Path::new(CHANNEL_FOLDER))
        .map(|entries| entries.flatten().map(|entry| entry.path().display().to_string()).collect())
        .unwrap_or_default();
    channels.sort();
    let remedies = if channels.is_empty() { remedies(major) } else { Vec::new() };
    ImexFacts { major, channels, remedies }
}

/// The first node of a simulated machine.
pub(super) fn of_profile(name: &str) -> ImexFacts {
    let numbers = Profile::named(name).map_or_else(|_| Vec::new(), |profile| profile.nodes[0].channels.clone());
    let name = |number: &u32| format!("{CHANNEL_FOLDER}/channel{number} (simulated)");
    let remedies = if numbers.is_empty() { remedies(None) } else { Vec::new() };
    ImexFacts { major: None, channels: numbers.iter().map(name).collect(), remedies }
}

/// The major number of IMEX channels in the text of `/proc/devices`.
fn major_number(devices: &str) -> Option<u32> {
    devices.lines().find_map(|line| {
        let (number, name) = line.trim().split_once(' ')?;
        if name == DRIVER_NAME { number.parse().ok() } else { None }
    })
}

fn remedies(major: Option<u32>) -> Vec<String> {
    let major = major.map_or_else(|| "MAJOR".to_owned(), |major| major.to_string());
    vec![
        format!("mkdir -p {CHANNEL_FOLDER} && mknod {CHANNEL_FOLDER}/channel0 c {major} 0"),
        "load the nvidia module with NVreg_CreateImexChannel0=1".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_number_is_that_of_the_channels() {
        let text = "Character devices:\n  1 mem\n195 nvidia\n234 nvidia-caps-imex-channels\n235 nvidia-caps\n";
        assert_eq!(major_number(text), Some(234));
        assert_eq!(major_number("Character devices:\n235 nvidia-caps\n"), None);
        assert_eq!(major_number(""), None);
    }

    #[test]
    fn both_remedies_name_what_is_to_be_done() {
        let remedies = remedies(Some(234));
        assert!(remedies[0].ends_with("/channel0 c 234 0"));
        assert!(remedies[1].contains("NVreg_CreateImexChannel0=1"));
    }
}
