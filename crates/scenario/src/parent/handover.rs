//! What a run adds to the supervision of its workers: the order, the descriptors, the barrier, the progress.

use std::os::fd::AsFd;
use std::time::Duration;

use peermap_ipc::{Barrier, Deadline, IpcError};
use peermap_report::{Event, EventSink};

use super::{Plan, Supplies};
use crate::crew::{Conductor, Ready};
use crate::messages::{Role, Start, Step, ToWorker};
use crate::timing::whole_ms;

/// Hands the work out, and keeps the barrier.
pub(super) struct Handover<'a> {
    plan: &'a Plan,
    role: Role,
    supplies: &'a mut dyn Supplies,
    barrier: Barrier,
    batch: usize,
    record_calls: bool,
    /// How many workers have all descriptors.
    served: u32,
    /// How many workers have done their part of each step. Their messages come over channels of their own, so that of
    /// one for a step may be read before that of another for the step before.
    arrived: Vec<u32>,
}

impl<'a> Handover<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        role: Role,
        steps: u32,
        supplies: &'a mut dyn Supplies,
        barrier: Barrier,
        batch: usize,
        record_calls: bool,
    ) -> Self {
        let arrived = vec![0; steps as usize];
        Self { plan, role, supplies, barrier, batch, record_calls, served: 0, arrived }
    }

    fn order(&self, worker: u32, descriptors: usize, deadline: Deadline) -> ToWorker {
        // Workers get a little more, so that it is the parent that notices the end of the time and says who is late.
        const MORE: Duration = Duration::from_secs(1);
        let time_left = deadline.remaining().map_or(Duration::MAX, |left| left.saturating_add(MORE));
        ToWorker::Start(Start {
            worker,
            workers: self.plan.workers,
            device: Some(self.plan.device_of(worker).uuid),
            time_left_ms: whole_ms(time_left),
            record_calls: self.record_calls,
            descriptors: descriptors as u64,
            carrier: self.supplies.carrier(),
            role: self.role.clone(),
        })
    }
}

impl Conductor for Handover<'_> {
    fn start(&mut self, ready: Ready<'_>, events: &mut dyn EventSink) -> Result<(), IpcError> {
        let Ready { worker, pid, channel, deadline } = ready;
        let device = self.plan.device_of(worker);
        let device = format!("{} ({})", device.device, device.name);
        let descriptors = self.supplies.descriptors();
        channel.send(&self.order(worker, descriptors.len(), deadline), &[self.barrier.as_fd()], deadline)?;
        if !descriptors.is_empty() {
            channel.send_fds(&descriptors, self.batch, deadline)?;
        }
        events.event(&Event::WorkerStarted { worker, pid, device });
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
