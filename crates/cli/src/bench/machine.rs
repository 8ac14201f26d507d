//! The machine that is measured, and what could disturb the measurement.

use std::fs;

use peermap_bench::{BenchError, Rig};
use peermap_ipc::limits;
use peermap_report::bench::{DeviceFacts, Guard, Load, Machine};

use super::tool;
use crate::provenance;

/// The machine of a rig.
pub(super) fn find(rig: &Rig<'_>, source: &str) -> Result<Machine, BenchError> {
    let driver = rig.driver;
    let mut devices = Vec::new();
    for (device, _) in &rig.devices {
        devices.push(DeviceFacts {
            ordinal: device.0,
            name: driver.device_get_name(*device)?,
            uuid: driver.device_get_uuid(*device)?.to_string(),
            memory: driver.device_total_mem(*device)?.get(),
        });
    }
    let mut topology = Vec::new();
    for (index, (one, _)) in rig.devices.iter().enumerate() {
        for (two, _) in &rig.devices[index + 1..] {
            let reach = driver.device_can_access_peer(*one, *two)?;
            topology.push(format!("{}-{}: {}", one.0, two.0, if reach { "peer access" } else { "no peer access" }));
        }
    }
    let provenance = provenance::find(source);
    Ok(Machine {
        cpu: cpu().unwrap_or_else(|| "unknown".to_owned()),
        cores: limits::usable_cores(),
        kernel: provenance.kernel,
        driver: provenance.driver,
        cuda: Some(driver.driver_get_version()?),
        devices,
        topology,
    })
}

fn cpu() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}

/// What else the machine does.
pub(super) fn load(source: &str) -> Load {
    let average = fs::read_to_string("/proc/loadavg").ok();
    let average = average.and_then(|text| text.split_whitespace().next()?.parse().ok());
    // This process is one of those that the tool counts.
    let others = (source == "cuda")
        .then(|| tool::query("compute-apps", "pid"))
        .flatten()
        .map(|lines| lines.len().saturating_sub(1));
    Load { load_average: average, other_gpu_processes: others.and_then(|count| u32::try_from(count).ok()) }
}

/// What is read before and after: its name in the tool, and in words.
const READINGS: [(&str, &str); 4] = [
    ("clocks.sm", "SM clock, MHz"),
    ("clocks.mem", "memory clock, MHz"),
    ("temperature.gpu", "temperature, degrees Celsius"),
    ("power.draw", "power, W"),
];

/// Clocks, temperature and power of each device, by name. Nothing where the tool of the driver is missing.
pub(super) fn readings(source: &str) -> Vec<(String, String)> {
    if source != "cuda" {
        return Vec::new();
    }
    let fields = READINGS.map(|(field, _)| field).join(",");
    let lines = tool::query("gpu", &fields).unwrap_or_default();
    let named = lines.iter().enumerate().flat_map(|(device, line)| {
        let values = line.split(',').map(|value| value.trim().to_owned());
        READINGS.iter().zip(values).map(move |((_, words), value)| (format!("device {device}: {words}"), value))
    });
    named.collect()
}

/// Readings before and after, side by side.
pub(super) fn guards(before: Vec<(String, String)>, after: Vec<(String, String)>) -> Vec<Guard> {
    let both = before.into_iter().zip(after);
    both.map(|((what, before), (_, after))| Guard { what, before, after }).collect()
}
