//! What this scenario adds to the supervision of its workers: the order, the descriptors, the barrier, the progress.

use std::os::fd::AsFd;
use std::time::Duration;

use peermap_ipc::{Barrier, Deadline, IpcError};
use peermap_report::{Event, EventSink};

use super::Task;
use super::buffers::Buffers;
use super::plan::Plan;
use crate::crew::{Conductor, Ready};
use crate::messages::{Role, Start, Step, ToWorker};
use crate::timing::whole_ms;

/// Hands the work out, and keeps the barrier.
pub(super) struct Handover<'a, 'd> {
    plan: &'a Plan,
    task: Task,
    buffers: &'a mut Buffers<'d>,
    barrier: Barrier,
    batch: usize,
    record_calls: bool,
    /// How many workers have all descriptors.
    served: u32,
    /// How many workers have done their part of each ring step. Their messages come over channels of their own, so that of
    /// one for a step may be read before that of another for the step before.
    arrived: Vec<u32>,
}

impl<'a, 'd> Handover<'a, 'd> {
    pub(super) fn new(
        plan: &'a Plan,
        task: Task,
        buffers: &'a mut Buffers<'d>,
        barrier: Barrier,
        batch: usize,
        record_calls: bool,
    ) -> Self {
        let arrived = vec![0; plan.workers as usize];
        Self { plan, task, buffers, barrier, batch, record_calls, served: 0, arrived }
    }

    fn order(&self, worker: u32, deadline: Deadline) -> ToWorker {
        // Workers get a little more, so that it is the parent that notices the end of the time and says who is late.
        const MORE: Duration = Duration::from_secs(1);
        let time_left = deadline.remaining().map_or(Duration::MAX, |left| left.saturating_add(MORE));
        ToWorker::Start(Start {
            worker,
            workers: self.plan.workers,
            device: Some(self.plan.device_of(worker).uuid),
            time_left_ms: whole_ms(time_left),
            record_calls: self.record_calls,
            role: Role::MemmapIpc(self.task.clone()),
        })
    }
}

impl Conductor for Handover<'_, '_> {
    fn start(&mut self, ready: Ready<'_>, events: &mut dyn EventSink) -> Result<(), IpcError> {
        let Ready { worker, pid, channel, deadline } = ready;
        let device = self.plan.device_of(worker);
        let device = format!("{} ({})", device.device, device.name);
        channel.send(&self.order(worker, deadline), &[self.barrier.as_fd()], deadline)?;
        channel.send_fds(&self.buffers.descriptors(), self.batch, deadline)?;
        events.event(&Event::WorkerStarted { worker, pid, device });
        self.served += 1;
        if self.served == self.plan.workers {
            self.buffers.close_descriptors();
        }
        Ok(())
    }

    fn step(&mut self, _worker: u32, step: Step, events: &mut dyn EventSink) {
        let Step::Barrier(step) = step else { return };
        let Some(arrived) = self.arrived.get_mut(step as usize) else { return };
        *arrived += 1;
        if *arrived == self.plan.workers {
            events.event(&Event::Progress { done: step + 1, of: self.plan.workers });
        }
    }

    fn lost(&mut self, worker: u32) {
        // The only error is a number that the barrier does not have, and every worker has its number.
        let poisoned = self.barrier.poison(worker);
        debug_assert!(poisoned.is_ok(), "{poisoned:?}");
    }
}
