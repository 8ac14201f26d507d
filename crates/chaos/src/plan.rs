//! What a seed decides.

use std::time::Duration;

use peermap_driver::ByteSize;
use peermap_scenario::{DeviceChoice, Options, Verify};

use crate::fault::{Fault, What, Who};

/// Where the processes of a run live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processes {
    /// All in one OS process, a thread for each, of which one runs at a time.
    InOne,
    /// Each in an OS process of its own.
    Separate,
}

/// What a seed decides about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The seed. In one OS process it decides the order of everything, too.
    pub seed: u64,
    /// How many devices take part.
    pub devices: u32,
    /// How many workers each of them has.
    pub per_device: u32,
    /// What goes wrong.
    pub faults: Vec<Fault>,
}

/// The latest event, call or message that something happens at. A run of four workers has a few more in some processes.
const LATEST_EVENT: u32 = 120;
const LATEST_CALL: u32 = 60;
const LATEST_MESSAGE: u32 = 12;

/// How many devices take part, and how many workers each has.
const SHAPES: [(u32, u32); 5] = [(1, 2), (2, 1), (3, 1), (2, 2), (4, 1)];

impl Plan {
    /// The most devices that take part in any plan.
    pub const MOST_DEVICES: u32 = 4;

    /// A plan in which nothing goes wrong, with so many devices.
    #[must_use]
    pub const fn calm(devices: u32) -> Self {
        Self { seed: 0, devices, per_device: if devices == 1 { 2 } else { 1 }, faults: Vec::new() }
    }

    /// The plan of a seed, with so many devices at most. Limits of the operating system are for processes of their own.
    #[must_use]
    pub fn of_seed(seed: u64, processes: Processes, most_devices: u32) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let is_possible = |shape: &(u32, u32)| shape.0 <= most_devices.max(1);
        let possible: Vec<(u32, u32)> = SHAPES.into_iter().filter(is_possible).collect();
        let (devices, per_device) = possible[random.usize(..possible.len())];
        let count = [0, 1, 1, 1, 2, 2, 3][random.usize(..7)];
        let faults = (0..count).map(|_| fault(&mut random, devices * per_device, processes)).collect();
        Self { seed, devices, per_device, faults }
    }

    /// The workers of the run.
    #[must_use]
    pub fn workers(&self) -> u32 {
        self.devices * self.per_device
    }

    /// What is asked of the scenario: little buffers, and that every worker verifies all of them.
    pub(crate) fn options(&self) -> Options {
        let devices = (0..self.devices).map(|ordinal| DeviceChoice::Ordinal(ordinal.cast_signed())).collect();
        Options {
            devices: Some(devices),
            processes_per_device: self.per_device,
            size: ByteSize::mib(2),
            verify: Verify::All,
            ..Options::default()
        }
    }

    /// Whether the parent may be killed.
    #[must_use]
    pub fn kills_parent(&self) -> bool {
        self.of(Who::Parent).iter().any(|fault| matches!(fault.what, What::Kill { .. }))
    }

    /// What happens to a process.
    #[must_use]
    pub fn of(&self, who: Who) -> Vec<Fault> {
        self.faults.iter().filter(|fault| fault.who == who).copied().collect()
    }
}

fn fault(random: &mut fastrand::Rng, workers: u32, processes: Processes) -> Fault {
    let who = match random.u32(..=workers) {
        0 => Who::Parent,
        number => Who::Worker(number - 1),
    };
    let event = random.u32(..LATEST_EVENT);
    let message = random.u32(..LATEST_MESSAGE);
    // Shorter than a run may take, about as long, and longer. Only on a stage it costs nothing to wait.
    let times = match processes {
        Processes::InOne => [1, 100, 1_000, 20_000, 90_000],
        Processes::Separate => [1, 5, 20, 200, 3_000],
    };
    let time = Duration::from_millis(times[random.usize(..5)]);
    let kinds = if processes == Processes::Separate { 12 } else { 11 };
    let what = match random.u32(..kinds) {
        0..=3 => What::Refuse { call: random.u32(..LATEST_CALL), pick: random.u32(..8) },
        4 | 5 => What::Kill { event },
        6 => What::Stop { event, time },
        7 => [What::Lose { message }, What::Cut { message }][random.usize(..2)],
        8 => What::Double { message },
        9 => What::Delay { message, time },
        10 => [What::NoAddresses { event }, What::NoMemory { event }][random.usize(..2)],
        11 if who != Who::Parent => What::Files { event, more: random.u32(..4) },
        _ => What::NoAddresses { event },
    };
    Fault { who, what }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::mem::discriminant;

    use super::*;

    fn of_seed(seed: u64) -> Plan {
        Plan::of_seed(seed, Processes::Separate, Plan::MOST_DEVICES)
    }

    #[test]
    fn a_seed_has_one_plan() {
        assert_eq!(of_seed(7), of_seed(7));
        assert_ne!(of_seed(7), of_seed(8));
    }

    #[test]
    fn no_plan_has_more_devices_than_there_are() {
        for most in 1..=Plan::MOST_DEVICES {
            let plans: Vec<Plan> = (0..100).map(|seed| Plan::of_seed(seed, Processes::InOne, most)).collect();
            assert_eq!(plans.iter().map(|plan| plan.devices).max(), Some(most));
        }
    }

    #[test]
    fn seeds_reach_every_kind_every_process_and_no_fault_at_all() {
        let plans: Vec<Plan> = (0..400).map(of_seed).collect();
        let faults = || plans.iter().flat_map(|plan| &plan.faults);
        assert_eq!(faults().map(|fault| discriminant(&fault.what)).collect::<HashSet<_>>().len(), 10);
        assert_eq!(faults().map(|fault| fault.who).collect::<HashSet<_>>().len(), 5);
        assert!(plans.iter().any(|plan| plan.faults.is_empty()));
        assert!(plans.iter().all(|plan| plan.faults.iter().all(|it| it.who < Who::Worker(plan.workers()))));
    }
}
