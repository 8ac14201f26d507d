//! Looks for workers that have died while the parent is busy with driver calls of its own.

use std::sync::Mutex;
use std::time::Duration;

use peermap_driver::{Call, Driver, DriverError, Intercepted, Interceptor, Result, Value};
use peermap_ipc::{Deadline, some_child_failed};

/// How often it looks.
const INTERVAL: Duration = Duration::from_millis(20);

/// Refuses the first call that comes after a death.
pub(crate) struct Lookout {
    /// When it looks next; `None` once it has seen a death: what was made is still given back.
    next: Mutex<Option<Deadline>>,
}

/// A driver that stops working for who has lost a worker.
pub(crate) fn with_lookout(driver: &dyn Driver) -> Intercepted<&dyn Driver, Lookout> {
    Intercepted::new(driver, Lookout { next: Mutex::new(Some(Deadline::after(INTERVAL))) })
}

impl Interceptor for Lookout {
    fn before(&self, _call: Call, _arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<()> {
        let Ok(mut next) = self.next.lock() else { return Ok(()) };
        if !next.is_some_and(Deadline::has_passed) {
            return Ok(());
        }
        *next = (!some_child_failed()).then(|| Deadline::after(INTERVAL));
        match *next {
            Some(_) => Ok(()),
            None => Err(DriverError::Host { what: "a worker has died".to_owned() }),
        }
    }

    fn after(&self, _call: Call, _error: Option<&DriverError>) {}
}
