//! What the links of the machine can do at most, as the driver and its tool say.

use peermap_bench::{Peaks, Rig};
use peermap_driver::DeviceAttribute;
use peermap_report::bench::Peak;

use super::tool;

/// The peaks of a rig. Simulated links have none: their bytes move in the memory of the host.
pub(super) fn find(rig: &Rig<'_>) -> Peaks {
    if rig.simulated {
        return Peaks::default();
    }
    Peaks { memory: memory(rig), host: host(), peers: peers() }
}

/// Twice the clock of the memory, for both edges, times the width of its bus.
fn memory(rig: &Rig<'_>) -> Option<Peak> {
    let device = rig.devices.first()?.0;
    let attribute = |attribute| rig.driver.device_get_attribute(attribute, device).ok().filter(|value| *value > 0);
    let kilohertz = attribute(DeviceAttribute::MEMORY_CLOCK_RATE)?;
    let bits = attribute(DeviceAttribute::GLOBAL_MEMORY_BUS_WIDTH)?;
    let rate = 2.0 * f64::from(kilohertz) * 1e3 * f64::from(bits) / 8.0 / 1e9;
    Some(Peak { value: rate, source: format!("memory of {bits} bits at {} MHz", kilohertz / 1000) })
}

/// What a lane of PCI Express carries one way in each generation, in GB/s, behind its line code.
const LANES: [(u32, f64); 4] = [(3, 0.985), (4, 1.969), (5, 3.938), (6, 7.563)];

fn host() -> Option<Peak> {
    let line = tool::query("gpu", "pcie.link.gen.max,pcie.link.width.max")?.into_iter().next()?;
    pci_express(&line)
}

fn pci_express(line: &str) -> Option<Peak> {
    let (generation, width) = line.split_once(',')?;
    let (generation, width): (u32, u32) = (generation.trim().parse().ok()?, width.trim().parse().ok()?);
    let (_, lane) = LANES.into_iter().find(|(known, _)| *known == generation)?;
    Some(Peak { value: lane * f64::from(width), source: format!("PCI Express {generation}.0 x{width}") })
}

fn peers() -> Option<Peak> {
    nvlinks(&tool::nvlinks()?)
}

/// The links of the first device that are up: `Link 0: 26.562 GB/s`.
fn nvlinks(lines: &[String]) -> Option<Peak> {
    let rate =
        |line: &String| line.trim().strip_prefix("Link ")?.split_once(": ")?.1.strip_suffix(" GB/s")?.parse().ok();
    let rates: Vec<f64> = lines.iter().filter_map(rate).collect();
    let first = rates.first()?;
    Some(Peak { value: rates.iter().sum(), source: format!("{} NVLinks of {first} GB/s", rates.len()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_from_what_the_tool_prints() {
        let printed = [
            "GPU 0: NVIDIA H200 (UUID: GPU-1)",
            "\t Link 0: 26.562 GB/s",
            "\t Link 1: 26.562 GB/s",
            "\t Link 2: <inactive>",
        ];
        let peak = nvlinks(&printed.map(str::to_owned)).unwrap();
        assert_eq!((peak.value, &*peak.source), (53.124, "2 NVLinks of 26.562 GB/s"));
        assert_eq!(nvlinks(&["no devices were found".to_owned()]), None);
    }

    #[test]
    fn a_generation_of_pci_express_that_is_not_known_has_no_peak() {
        let peak = pci_express("5, 16").unwrap();
        assert_eq!((peak.value, &*peak.source), (63.008, "PCI Express 5.0 x16"));
        assert_eq!(pci_express("9, 16"), None);
        assert_eq!(pci_express("[N/A], [N/A]"), None);
    }
}
