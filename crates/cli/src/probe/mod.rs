//! `peermap probe`: what sharing each device supports, and what is in the way.
//!
//! What can be tried is tried: an attribute is no proof that a call works.

mod device;
mod fabric;
mod host;
mod present;

use std::io::Write;

use peermap_driver::{Device, Driver, DriverError};
use peermap_report::ExitCode;
use serde::Serialize;

use crate::args::Probe;
use crate::backend::{self, Chosen};
use crate::show;
use device::DeviceFacts;
use fabric::ImexFacts;
use host::HostFacts;

/// Everything that the probe found.
#[derive(Debug, Serialize)]
pub(crate) struct Findings {
    schema: u32,
    backend: &'static str,
    profile: Option<String>,
    cuda_version: i32,
    devices: Vec<DeviceFacts>,
    /// Row: the device that reaches; column: the one that is reached.
    peers: Vec<Vec<bool>>,
    imex: ImexFacts,
    host: HostFacts,
}

/// The version of the JSON.
const SCHEMA: u32 = 1;

/// Probes and prints.
pub(crate) fn run(arguments: &Probe) -> ExitCode {
    let chosen = match backend::choose(&arguments.place) {
        Ok(chosen) => chosen,
        Err(code) => return code,
    };
    let driver = match chosen.driver() {
        Ok(driver) => driver,
        Err(code) => return code,
    };
    let findings = match find(&chosen, &*driver) {
        Ok(findings) => findings,
        Err(error) => {
            show::complaint(&format!("a device cannot be asked: {error}"));
            return ExitCode::DriverError;
        }
    };
    let text = if arguments.json {
        serde_json::to_string_pretty(&findings).expect("findings have text keys only")
    } else {
        present::text(&findings)
    };
    match writeln!(std::io::stdout(), "{text}") {
        Ok(()) => ExitCode::Ok,
        Err(error) => {
            show::complaint(&format!("the findings cannot be written: {error}"));
            ExitCode::Unexpected
        }
    }
}

fn find(chosen: &Chosen, driver: &dyn Driver) -> Result<Findings, DriverError> {
    let count = driver.device_get_count()?;
    let all: Vec<Device> = (0..count).map(|ordinal| driver.device_get(ordinal)).collect::<Result<_, _>>()?;
    let devices = all.iter().map(|device| device::find(driver, *device)).collect::<Result<_, _>>()?;
    let reach = |device: &Device| all.iter().map(|peer| driver.device_can_access_peer(*device, *peer)).collect();
    let peers = all.iter().map(reach).collect::<Result<_, _>>()?;
    let (backend, profile, imex) = match chosen {
        Chosen::Cuda { .. } => ("cuda", None, fabric::of_this_host()),
        Chosen::Sim(profile) => ("sim", Some(profile.clone()), fabric::of_profile(profile)),
    };
    let cuda_version = driver.driver_get_version()?;
    Ok(Findings { schema: SCHEMA, backend, profile, cuda_version, devices, peers, imex, host: host::find() })
}
