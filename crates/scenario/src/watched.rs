//! A driver that remembers which calls failed, so that a failure can name its call.

use std::sync::{Mutex, PoisonError};

use peermap_driver::{Call, Driver, DriverError, Intercepted, Interceptor, Result, Value};

/// Remembers the calls that failed, each with its error.
#[derive(Default)]
pub(crate) struct Failures(Mutex<Vec<(Call, DriverError)>>);

impl Failures {
    /// The first call that failed with this error. Later ones may be attempts to give back what was held: after a device
    /// fault they fail in the same way.
    pub(crate) fn call_of(&self, error: &DriverError) -> Option<Call> {
        let failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failures.iter().find(|(_, failed)| failed == error).map(|(call, _)| *call)
    }
}

impl Interceptor for Failures {
    fn before(&self, _call: Call, _arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<()> {
        Ok(())
    }

    fn after(&self, call: Call, error: Option<&DriverError>) {
        if let Some(error) = error {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push((call, error.clone()));
        }
    }
}

/// A driver that remembers which calls failed.
pub(crate) type Watched<'d> = Intercepted<&'d dyn Driver, Failures>;

/// Watches a driver.
pub(crate) fn watched(driver: &dyn Driver) -> Watched<'_> {
    Intercepted::new(driver, Failures::default())
}
