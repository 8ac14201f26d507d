//! What a run adds to the supervision of its workers: the descriptors, the barrier, the progress.

use peermap_ipc::{Barrier, IpcError};
use peermap_report::{Event, EventSink};

use super::{Plan, Supplies};
use crate::crew::{Ask, Conductor};
use crate::messages::{self, Step, ToWorker};

/// Hands out what is shared, and keeps the barrier.
pub(super) struct Handover<'a> {
    plan: &'a Plan,
    supplies: &'a mut dyn Supplies,
    barrier: Barrier,
    batch: usize,
    /// How many workers have all descriptors.
    served: u32,
    /// How many workers have done their part of each step. Their messages come over channels of their own, so that of
    /// one for a step may be read before that of another for the step before.
    arrived: Vec<u32>,
}

impl<'a> Handover<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        steps: u32,
        supplies: &'a mut dyn Supplies,
        barrier: Barrier,
        batch: usize,
    ) -> Self {
        let arrived = vec![0; steps as usize];
        Self { plan, supplies, barrier, batch, served: 0, arrived }
    }
}

impl Conductor for Handover<'_> {
    fn ready(&mut self, worker: u32, pid: u32, events: &mut dyn EventSink) {
        let device = self.plan.device_of(worker);
        let device = format!("{} ({})", device.device, device.name);
        events.event(&Event::WorkerStarted { worker, pid, device });
    }

    fn supply(&mut self, ask: Ask<'_>) -> Result<(), IpcError> {
        let Ask { channel, deadline } = ask;
        let descriptors = self.supplies.descriptors();
        let supplies = messages::Supplies { descriptors: descriptors.len() as u64, carrier: self.supplies.carrier() };
        channel.send(&ToWorker::Supplies(supplies), &[], deadline)?;
        channel.send_fds(&descriptors, self.batch, deadline)?;
        self.served += 1;
        if self.served == self.plan.workers {
            self.supplies.close_descriptors();
        }
        Ok(())
    }

    fn step(&mut self, _worker: u32, step: Step, events: &mut dyn EventSink) {
        let Step::Barrier(step) = step else { return };
        let Some(arrived) = self.arrived.get_mut(step as usize) else { return };
        *arrived += 1;
        if *arrived == self.plan.workers {
            events.event(&Event::Progress { done: step + 1, of: self.arrived.len() as u32 });
        }
    }

    fn lost(&mut self, worker: u32) {
        // The only error is a number that the barrier does not have, and every worker has its number.
        let poisoned = self.barrier.poison(worker);
        debug_assert!(poisoned.is_ok(), "{poisoned:?}");
    }
}
