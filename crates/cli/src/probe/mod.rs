//! `peermap probe`: what sharing each device supports, and what is in the way.
//!
//! What can be tried is tried: an attribute is no proof that a call works.

mod device;
mod fabric;
mod host;
mod present;

use std::io::Write;

use anyhow::Context;
use peermap_driver::{Device, Driver, DriverError};
use peermap_report::ExitCode;
use serde::Serialize;

use crate::args::Probe;
use crate::backend::{self, Chosen};
use crate::refusal::Refusal;
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
    probe(arguments).map_or_else(|refusal| refusal.end(arguments.json), |()| ExitCode::Ok)
}

fn probe(arguments: &Probe) -> Result<(), Refusal> {
    let chosen = backend::choose(&arguments.place)?;
    let driver = chosen.driver()?;
    let findings = find(&chosen, &*driver).context("a device cannot be asked");
    let findings = findings.map_err(|error| Refusal::new(ExitCode::DriverError, error))?;
    let text = if arguments.json {
        serde_json::to_string_pretty(&findings).expect("findings have text keys only")
    } else {
        present::text(&findings)
    };
    let written = writeln!(std::io::stdout(), "{text}").context("the findings cannot be written");
    written.map_err(Refusal::unexpected)
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
