//! The ring of simple-ipc on one device, ordered by events beside the same ordered by the host: what the one is faster is the
//! work that overlaps because the host does not wait.

use peermap_driver::ByteSize;
use peermap_scenario::simple_ipc::SimpleIpc;
use peermap_scenario::{DeviceChoice, Options, Order, Relay};

use super::slowest;
use crate::error::BenchError;
use crate::rig::Rig;
use crate::suite::{Group, Output, Planned};

/// Workers on the device.
const WORKERS: u32 = 4;
/// Enough that the first and the last step, in which nothing overlaps, do not count.
const STEPS: u32 = 16;

pub(super) fn group<'r>(rig: &'r Rig<'_>, size: ByteSize) -> Planned<'r> {
    Planned {
        outputs: vec![Output::time("ring_events"), Output::time("ring_host")],
        parameters: vec![("workers", WORKERS.to_string()), ("steps", STEPS.to_string()), ("size", size.to_string())],
        make: Box::new(move || Ok(Box::new(Ring { rig, size }))),
    }
}

struct Ring<'r, 'd> {
    rig: &'r Rig<'d>,
    size: ByteSize,
}

impl Group for Ring<'_, '_> {
    /// One by the other, so that a change of clocks meets both alike.
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        [Order::Events, Order::Host].into_iter().map(|order| self.run(order)).collect()
    }
}

impl Ring<'_, '_> {
    fn run(&self, order: Order) -> Result<f64, BenchError> {
        let (device, _) = self.rig.devices[0];
        let devices = Some(vec![DeviceChoice::Ordinal(device.0)]);
        let options = Options { devices, processes_per_device: WORKERS, size: self.size, ..Options::default() };
        let report = self.rig.crew.run(&SimpleIpc(Relay { options, order, steps: Some(STEPS) }).into())?;
        Ok(slowest(&report, "ring"))
    }
}
