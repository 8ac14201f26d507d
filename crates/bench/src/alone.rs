//! Benchmarks without processes of their own.

use peermap_report::RunReport;
use peermap_scenario::memmap_ipc::Options;

use crate::error::BenchError;
use crate::rig::Crew;

/// Nobody who could start processes: scenarios are skipped.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Crew for Alone {
    fn memmap_ipc(&self, _: &Options) -> Result<RunReport, BenchError> {
        Err(BenchError::NotHere("nobody starts processes here".to_owned()))
    }
}
