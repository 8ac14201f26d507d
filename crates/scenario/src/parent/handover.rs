//! What a run adds to the supervision of its workers: the descriptors, the barrier, the progress.

use peermap_driver::DriverError;
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
    /// How many workers have given back what they share.
    left: u32,
    /// What came of giving back what is shared, which happens when all workers have.
    released: Result<(), DriverError>,
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
        Self { plan, supplies, barrier, batch, served: 0, left: 0, released: Ok(()), arrived }
    }

    /// Gives back what is left of what is shared. Also tells what went wrong before.
    pub(super) fn finish(self) -> Result<(), DriverError> {
        self.released.and(self.supplies.release())
    }

    /// One more worker has come to the end of a step in which all wait for all.
    fn arrived(&mut self, step: u32, events: &mut dyn EventSink) {
        let Some(arrived) = self.arrived.get_mut(step as usize) else { return };
        *arrived += 1;
        if *arrived == self.plan.workers {
            events.event(&Event::Progress { done: step + 1, of: self.arrived.len() as u32 });
        }
    }

    /// One more worker has given back what it shares.
    fn left(&mut self) {
        self.left += 1;
        if self.left == self.plan.workers {
            self.released = self.supplies.release();
        }
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
        match step {
            Step::Barrier(step) => self.arrived(step, events),
            Step::ClearAway => self.left(),
            _ => {}
        }
    }

    fn lost(&mut self, worker: u32) {
        // The only error is a number that the barrier does not have, and every worker has its number.
        let poisoned = self.barrier.poison(worker);
        debug_assert!(poisoned.is_ok(), "{poisoned:?}");
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::BorrowedFd;

    use peermap_driver::{CuResult, Device, Uuid};

    use super::*;
    use crate::devices::Chosen;
    use crate::options::Options;

    const REFUSED: DriverError = DriverError::refused(CuResult::INVALID_VALUE);

    /// Something that cannot be given back in the usual way, and is gone after the first attempt.
    struct Stubborn {
        there: bool,
    }

    impl Supplies for Stubborn {
        fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
            Vec::new()
        }

        fn close_descriptors(&mut self) {}

        fn release(&mut self) -> Result<(), DriverError> {
            if std::mem::take(&mut self.there) { Err(REFUSED) } else { Ok(()) }
        }
    }

    fn plan() -> Plan {
        let device = Chosen { device: Device(0), uuid: Uuid([0; 16]), name: "a device".to_owned() };
        Plan::new(&Options::default(), vec![device], Vec::new(), 2).unwrap()
    }

    /// Whether the supplies are still there after so many of two workers have given back what they share, and what is said at the
    /// end.
    fn after(left: u32) -> (bool, Result<(), DriverError>) {
        let (plan, mut supplies) = (plan(), Stubborn { there: true });
        let barrier = Barrier::create("handover", 2).unwrap();
        let mut handover = Handover::new(&plan, 0, &mut supplies, barrier, 1);
        for worker in 0..left {
            handover.step(worker, Step::Teardown, &mut |_: &Event| {});
            handover.step(worker, Step::ClearAway, &mut |_: &Event| {});
        }
        (handover.released.is_ok(), handover.finish())
    }

    #[test]
    fn what_is_shared_goes_with_the_last_worker_that_uses_it() {
        assert_eq!(after(1), (true, Err(REFUSED)));
        assert_eq!(after(2), (false, Err(REFUSED)));
    }
}
