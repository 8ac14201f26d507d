//! Scenarios from end to end, with real processes.
//!
//! | file | what it measures |
//! | --- | --- |
//! | `whole.rs` | whole runs, and each of their phases |
//! | `ring.rs` | the ring of simple-ipc, ordered by events and by the host |
//! | `team.rs` | multicast, on simulated devices |

mod ring;
mod team;
mod whole;

use peermap_driver::ByteSize;
use peermap_report::RunReport;

use crate::rig::Rig;
use crate::suite::{Planned, Suite};

/// The suite.
pub(crate) struct Scenario;

const FULL: [ByteSize; 2] = [ByteSize::mib(4), ByteSize::mib(64)];
const QUICK: [ByteSize; 1] = [ByteSize::mib(4)];

impl Suite for Scenario {
    fn name(&self) -> &'static str {
        "scenario"
    }

    fn plan<'r>(&self, rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
        let processes: &[u32] = if rig.effort.quick { &[1] } else { &[1, 2] };
        let sizes = rig.sizes(&FULL, &QUICK);
        let runs = sizes.iter().flat_map(|size| processes.iter().map(|count| (*size, *count)));
        let whole = runs.flat_map(|(size, count)| whole::groups(rig, size, count));
        whole.chain(sizes.iter().map(|size| ring::group(rig, *size))).chain(team::groups(rig)).collect()
    }
}

/// The time of the slowest worker in a phase, in nanoseconds.
fn slowest(report: &RunReport, phase: &str) -> f64 {
    let times = report.workers.iter().filter_map(|worker| worker.phases_ms.get(phase));
    nanoseconds(times.fold(0.0, f64::max))
}

fn nanoseconds(milliseconds: f64) -> f64 {
    milliseconds * 1e6
}
