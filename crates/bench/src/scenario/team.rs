//! A team of simulated devices, with a process for each rank and with one for all.
//!
//! On hardware multicast is never tried: it can put the GPUs of a host out of service for everybody.

use peermap_driver::ByteSize;
use peermap_scenario::multicast::{Multicast, Team};
use peermap_scenario::{Options, Scenario};

use super::{nanoseconds, slowest};
use crate::error::BenchError;
use crate::rig::Rig;
use crate::suite::{Group, Output, Planned};

/// Of each device, and of each sum.
const SIZE: ByteSize = ByteSize::mib(4);

/// The phases that are its own.
const PHASES: [(&str, &str); 5] = [
    ("multicast_join", "join"),
    ("multicast_bind", "bind"),
    ("multicast_fill", "fill"),
    ("multicast_reduce", "reduce"),
    ("multicast_norm", "norm"),
];

/// A group for each way of sharing the ranks out.
pub(super) fn groups<'r>(rig: &'r Rig<'_>) -> impl Iterator<Item = Planned<'r>> {
    [false, true].into_iter().map(move |one_process| Planned {
        outputs: std::iter::once("multicast").chain(PHASES.map(|(name, _)| name)).map(Output::time).collect(),
        parameters: vec![("one_process", one_process.to_string()), ("size", SIZE.to_string())],
        make: Box::new(move || {
            if !rig.simulated {
                return Err(BenchError::NotHere("multicast is never tried on hardware".to_owned()));
            }
            let options = Options { size: SIZE, ..Options::default() };
            let scenario = Multicast::new(options, Team { one_process, ..Team::default() }).into();
            Ok(Box::new(Run { rig, scenario }))
        }),
    })
}

struct Run<'r, 'd> {
    rig: &'r Rig<'d>,
    scenario: Scenario,
}

impl Group for Run<'_, '_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let report = self.rig.crew.run(&self.scenario)?;
        let phases = PHASES.iter().map(|(_, phase)| slowest(&report, phase));
        Ok(std::iter::once(nanoseconds(report.wall_ms)).chain(phases).collect())
    }
}
