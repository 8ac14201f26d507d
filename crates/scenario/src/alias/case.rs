//! The cases, and which worker has which.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A use of one memory by two addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Case {
    /// A kernel writes, and kernel and copy on other streams read behind an event: `foo1` and `foo2` of the guide.
    Ordered,
    /// A kernel writes by one address and reads by the other behind a fence.
    Fenced,
    /// A kernel writes by one address and reads by the other: `foo` of the guide.
    Unfenced,
    /// A kernel that runs already when another one writes and ends reads then.
    EarlyReader,
}

/// The cases of each worker of a device.
const SEATS: [&[Case]; 3] = [&[Case::Ordered, Case::Fenced], &[Case::Unfenced], &[Case::EarlyReader]];

impl Case {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ordered, Self::Fenced, Self::Unfenced, Self::EarlyReader];

    /// Whether what is read is known.
    #[must_use]
    pub const fn is_defined(self) -> bool {
        matches!(self, Self::Ordered | Self::Fenced)
    }

    /// How many workers each device has.
    pub(super) const WORKERS: u32 = SEATS.len() as u32;

    /// What a worker plays. Neighbours sit on different devices.
    pub(super) fn of_worker(worker: u32, workers: u32) -> &'static [Self] {
        let devices = workers / Self::WORKERS;
        SEATS[(worker / devices) as usize]
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ordered => "foo1, then foo2",
            Self::Fenced => "fenced foo",
            Self::Unfenced => "foo",
            Self::EarlyReader => "early reader",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_undefined_case_has_a_worker_of_its_own_on_each_device() {
        let played: Vec<_> = (0..6).map(|worker| Case::of_worker(worker, 6)).collect();
        let defined = [Case::Ordered, Case::Fenced].as_slice();
        let (foo, early) = ([Case::Unfenced].as_slice(), [Case::EarlyReader].as_slice());
        assert_eq!(played, [defined, defined, foo, foo, early, early]);
        assert!(Case::ALL.iter().all(|case| SEATS.iter().any(|seat| seat.contains(case))));
    }
}
