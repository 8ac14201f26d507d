//! The state of a granule in every order in which processes may change it, by loom.

use std::sync::atomic::Ordering::{self, Relaxed};
use std::time::Duration;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU8, AtomicU32};
use loom::thread;

use super::{FRESH, State, WRITTEN, write};

/// Longer than any test: a claim is taken over by nobody.
const FOR_EVER: Duration = Duration::MAX;

impl State for AtomicU8 {
    fn store(&self, state: u8, order: Ordering) {
        Self::store(self, state, order);
    }

    fn compare_exchange(&self, current: u8, new: u8, ok: Ordering, failed: Ordering) -> Result<u8, u8> {
        Self::compare_exchange(self, current, new, ok, failed)
    }

    fn wait() {
        thread::yield_now();
    }
}

/// A granule, and what its writers see.
struct Granule {
    state: AtomicU8,
    charged: AtomicU32,
}

impl Granule {
    fn new() -> Arc<Self> {
        Arc::new(Self { state: AtomicU8::new(FRESH), charged: AtomicU32::new(0) })
    }

    /// Writes, where the budget allows `room` charges. Whether it could.
    fn write(&self, room: u32) -> bool {
        let charge = || {
            // Plain steps, not one atomic one: only the claim keeps two writers apart.
            let charged = self.charged.load(Relaxed);
            self.charged.store(charged + u32::from(charged < room), Relaxed);
            if charged < room { Ok(()) } else { Err(()) }
        };
        let written = write(&self.state, FOR_EVER, charge).is_ok();
        // Who may write sees that it is charged.
        assert_eq!(self.charged.load(Relaxed), room);
        written
    }
}

#[test]
fn a_granule_is_charged_once_whoever_writes_first() {
    loom::model(|| {
        let granule = Granule::new();
        let other = Arc::clone(&granule);
        let writer = thread::spawn(move || assert!(other.write(1)));
        assert!(granule.write(1));
        writer.join().unwrap();
        assert_eq!((granule.state.load(Relaxed), granule.charged.load(Relaxed)), (WRITTEN, 1));
    });
}

#[test]
fn a_granule_that_is_refused_to_all_stays_fresh() {
    loom::model(|| {
        let granule = Granule::new();
        let other = Arc::clone(&granule);
        let writer = thread::spawn(move || assert!(!other.write(0)));
        assert!(!granule.write(0));
        writer.join().unwrap();
        assert_eq!((granule.state.load(Relaxed), granule.charged.load(Relaxed)), (FRESH, 0));
    });
}
