//! Which worker tries what.

use super::{Deed, Right};

/// What the workers of a device do: each has a seat of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seat {
    /// Makes all tries that end without a fault, and sees what the others did.
    Witness,
    /// Makes one try that must fault.
    Fault(Right, Deed),
}

/// The seats of a device.
pub(super) fn seats() -> Vec<Seat> {
    let tries = Right::ALL.into_iter().flat_map(|right| Deed::ALL.map(|deed| (right, deed)));
    let faults = tries.filter(|(right, deed)| deed.must_fault(*right)).map(|(right, deed)| Seat::Fault(right, deed));
    std::iter::once(Seat::Witness).chain(faults).collect()
}

/// How many devices there are if there are so many workers.
pub(super) fn devices(workers: u32) -> u32 {
    workers / count()
}

/// How many workers each device has.
pub(super) fn count() -> u32 {
    seats().len() as u32
}

/// The seat of a worker. Neighbours sit on different devices.
pub(super) fn seat_of(worker: u32, workers: u32) -> Seat {
    seats()[(worker / devices(workers)) as usize]
}

/// The other workers of a witness's device, in the order of their seats.
pub(super) fn watched_by(witness: u32, workers: u32) -> impl Iterator<Item = u32> {
    (witness..workers).step_by(devices(workers) as usize).skip(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_try_that_must_fault_has_a_seat() {
        use Deed::{Load, Store};
        use Right::{Lowered, None, Read, Revoked};
        let faults = [(None, Load), (None, Store), (Read, Store), (Lowered, Store), (Revoked, Load), (Revoked, Store)];
        let seats = seats();
        assert_eq!(seats[0], Seat::Witness);
        assert_eq!(seats[1..], faults.map(|(right, deed)| Seat::Fault(right, deed)));
    }

    #[test]
    fn the_workers_of_two_devices_sit_in_turn() {
        let workers = 2 * count();
        assert_eq!([0, 1].map(|worker| seat_of(worker, workers)), [Seat::Witness; 2]);
        assert_eq!([2, 3].map(|worker| seat_of(worker, workers)), [Seat::Fault(Right::None, Deed::Load); 2]);
        assert_eq!(watched_by(1, workers).collect::<Vec<_>>(), [3, 5, 7, 9, 11, 13]);
    }
}
