//! Looks for workers that have died while the parent is busy with driver calls of its own.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use peermap_driver::{Call, Driver, DriverError, Intercepted, Interceptor, Result, Value};
use peermap_ipc::{Deadline, has_ended};

/// How often it looks.
const INTERVAL: Duration = Duration::from_millis(20);

/// Refuses the first call that comes after a death.
pub(crate) struct Lookout {
    /// The process ids of the workers.
    workers: Vec<u32>,
    /// When it looks next; `None` once it has seen a death or need not look: what was made is still given back.
    next: Mutex<Option<Deadline>>,
}

/// A driver that stops working for who has lost one of these workers.
pub(crate) fn with_lookout(driver: &dyn Driver, workers: Vec<u32>) -> Intercepted<&dyn Driver, Lookout> {
    Intercepted::new(driver, Lookout { workers, next: Mutex::new(Some(Deadline::after(INTERVAL))) })
}

impl Lookout {
    /// Somebody else looks from now on.
    pub(crate) fn end(&self) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Interceptor for Lookout {
    fn before(&self, _call: Call, _arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<()> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if !next.is_some_and(Deadline::has_passed) {
            return Ok(());
        }
        let has_died = self.workers.iter().any(|worker| has_ended(*worker));
        *next = (!has_died).then(|| Deadline::after(INTERVAL));
        match *next {
            Some(_) => Ok(()),
            None => Err(DriverError::Host { what: "a worker has died".to_owned() }),
        }
    }

    fn after(&self, _call: Call, _error: Option<&DriverError>) {}
}
