//! A driver that remembers which call failed last, so that a failure can name it.

use std::sync::{Mutex, PoisonError};

use peermap_driver::{Call, Driver, DriverError, Intercepted, Interceptor, Result, Value};

/// Remembers the last call that failed.
#[derive(Default)]
pub(crate) struct LastFailure(Mutex<Option<Call>>);

impl LastFailure {
    /// The call that failed last.
    pub(crate) fn call(&self) -> Option<Call> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Interceptor for LastFailure {
    fn before(&self, _call: Call, _arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<()> {
        Ok(())
    }

    fn after(&self, call: Call, error: Option<&DriverError>) {
        if error.is_some() {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(call);
        }
    }
}

/// A driver that remembers which call failed last.
pub(crate) type Watched<'d> = Intercepted<&'d dyn Driver, LastFailure>;

/// Watches a driver.
pub(crate) fn watched(driver: &dyn Driver) -> Watched<'_> {
    Intercepted::new(driver, LastFailure::default())
}
