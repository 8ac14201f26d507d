//! Counts calls that move bytes, and refuses one that is wanted refused.

use std::sync::atomic::{AtomicU64, Ordering};

use peermap_driver::{Call, CuResult, Driver, DriverError, Intercepted, Interceptor, Result, Value};

/// Sees driver calls.
#[derive(Default)]
pub(crate) struct Overseer {
    /// How many calls moved bytes.
    copies: AtomicU64,
    /// How many calls there are up to the one to refuse, that one included; 0: none is refused.
    left: AtomicU64,
}

/// A driver whose calls an overseer sees.
pub(crate) type Overseen<'d> = Intercepted<&'d dyn Driver, Overseer>;

/// What a refused call answers.
const REFUSAL: CuResult = CuResult::OUT_OF_MEMORY;

impl Overseer {
    /// How many calls copied, set or launched something.
    pub(crate) fn copies(&self) -> u64 {
        self.copies.load(Ordering::Relaxed)
    }

    /// Refuses a call once: the one of this number, counted from 1 and from now.
    pub(crate) fn refuse(&self, number: u64) {
        self.left.store(number, Ordering::Relaxed);
    }

    /// Refuses none any more. Whether one was refused.
    pub(crate) fn has_refused(&self) -> bool {
        self.left.swap(0, Ordering::Relaxed) == 0
    }
}

impl Interceptor for Overseer {
    fn before(&self, call: Call, _arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<()> {
        let name = call.name();
        if ["cuMemcpy", "cuMemset", "cuLaunch"].iter().any(|moves| name.starts_with(moves)) {
            self.copies.fetch_add(1, Ordering::Relaxed);
        }
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        if left == 1 { Err(DriverError::refused(REFUSAL)) } else { Ok(()) }
    }

    fn after(&self, _call: Call, _error: Option<&DriverError>) {}
}
