//! Benchmarks without processes of their own.

use peermap_driver::Driver;
use peermap_ipc::{Channel, Child};
use peermap_report::RunReport;
use peermap_scenario::Scenario;

use crate::error::BenchError;
use crate::rig::{Crew, Starter};

/// Nobody who could start processes: what needs more than one is skipped.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

fn nobody<T>() -> Result<T, BenchError> {
    Err(BenchError::NotHere("nobody starts processes here".to_owned()))
}

impl Starter for Alone {
    fn start(&self, _: bool) -> Result<(Child, Channel), BenchError> {
        nobody()
    }
}

impl Crew for Alone {
    fn driver(&self) -> Result<Box<dyn Driver>, BenchError> {
        nobody()
    }

    fn run(&self, _: &Scenario) -> Result<RunReport, BenchError> {
        nobody()
    }
}
