//! The main job from end to end, with real processes.

use peermap_driver::ByteSize;
use peermap_scenario::Options;

use crate::error::BenchError;
use crate::rig::Rig;
use crate::suite::{Group, Output, Planned, Suite};

/// The suite.
pub(crate) struct Scenario;

const FULL: [ByteSize; 2] = [ByteSize::mib(4), ByteSize::mib(64)];
const QUICK: [ByteSize; 1] = [ByteSize::mib(4)];

const PHASES: [&str; 7] = ["init", "context", "module", "map", "fill", "verify", "teardown"];

impl Suite for Scenario {
    fn name(&self) -> &'static str {
        "scenario"
    }

    fn plan<'r>(&self, rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
        let processes: &[u32] = if rig.effort.quick { &[1] } else { &[1, 2] };
        let sizes = rig.sizes(&FULL, &QUICK);
        sizes.into_iter().flat_map(|size| processes.iter().map(move |count| group(rig, size, *count))).collect()
    }
}

/// The whole run, and the slowest worker's time in each phase.
fn group<'r>(rig: &'r Rig<'_>, size: ByteSize, processes_per_device: u32) -> Planned<'r> {
    let wall = std::iter::once("memmap_ipc");
    Planned {
        outputs: wall.chain(PHASES).map(Output::time).collect(),
        parameters: vec![("processes_per_device", processes_per_device.to_string()), ("size", size.to_string())],
        make: Box::new(move || {
            Ok(Box::new(Run { rig, options: Options { size, processes_per_device, ..Options::default() } }))
        }),
    }
}

struct Run<'r, 'd> {
    rig: &'r Rig<'d>,
    options: Options,
}

impl Group for Run<'_, '_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let report = self.rig.crew.memmap_ipc(&self.options)?;
        let slowest = |phase: &str| {
            let times = report.workers.iter().filter_map(|worker| worker.phases_ms.get(phase));
            times.fold(0.0, f64::max)
        };
        let times = std::iter::once(report.wall_ms).chain(PHASES.map(slowest));
        Ok(times.map(|milliseconds| milliseconds * 1e6).collect())
    }
}
