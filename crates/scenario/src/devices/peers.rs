//! The sample's step that the scenario itself does not need: peer access both ways between contexts.
//!
//! `cuMemMap` memory is opened by `cuMemSetAccess` alone. The sample enables peer access all the same, because on systems
//! that allow only so many peers a device this shows which devices fit together.

use peermap_driver::{Context, CuResult, Device, Driver, DriverError};

/// Contexts whose devices have peer access to each other. Whatever is left of them is destroyed when they are dropped.
pub(super) struct Peers<'d> {
    driver: &'d dyn Driver,
    contexts: Vec<(Device, Context)>,
}

impl<'d> Peers<'d> {
    pub(super) fn new(driver: &'d dyn Driver) -> Self {
        Self { driver, contexts: Vec::new() }
    }

    /// Makes a context and enables peer access with all others. Gives the reason if the hardware allows no more peers; the
    /// device is left out then.
    pub(super) fn add(&mut self, device: Device) -> Result<Option<String>, DriverError> {
        let context = self.driver.ctx_create(0, device)?;
        for index in 0..self.contexts.len() {
            let (other, other_context) = self.contexts[index];
            if let Err(error) = self.connect(context, other_context) {
                let forgotten = self.forget(context, index);
                let refused = || Some(format!("peer access with {other} is refused: {}", CuResult::TOO_MANY_PEERS));
                return match error.result() {
                    Some(CuResult::TOO_MANY_PEERS) => forgotten.map(|()| refused()),
                    // What went wrong first is what to report.
                    _ => Err(error),
                };
            }
        }
        self.contexts.push((device, context));
        Ok(None)
    }

    /// Destroys the contexts; the connections go with them.
    pub(super) fn finish(mut self) -> Result<(), DriverError> {
        let mut result = Ok(());
        for (_, context) in self.contexts.drain(..) {
            let destroyed = self.driver.ctx_destroy(context);
            result = result.and(destroyed);
        }
        result
    }

    /// Both ways, or neither.
    fn connect(&self, one: Context, other: Context) -> Result<(), DriverError> {
        self.enable(one, other)?;
        let back = self.enable(other, one);
        if back.is_err() {
            self.disable(one, other)?;
        }
        back
    }

    fn enable(&self, from: Context, to: Context) -> Result<(), DriverError> {
        self.driver.ctx_set_current(Some(from))?;
        self.driver.ctx_enable_peer_access(to, 0)
    }

    fn disable(&self, from: Context, to: Context) -> Result<(), DriverError> {
        self.driver.ctx_set_current(Some(from))?;
        self.driver.ctx_disable_peer_access(to)
    }

    /// Takes back the connections with the first `connected` contexts, so that they do not count against these devices, and
    /// the context itself.
    fn forget(&self, context: Context, connected: usize) -> Result<(), DriverError> {
        let disconnected = self.contexts[..connected].iter().try_for_each(|(_, other)| {
            self.disable(context, *other)?;
            self.disable(*other, context)
        });
        // The context goes whether that succeeded or not, and with it what is left of its connections.
        let destroyed = self.driver.ctx_destroy(context);
        disconnected.and(destroyed)
    }
}

impl Drop for Peers<'_> {
    fn drop(&mut self) {
        for (_, context) in self.contexts.drain(..) {
            // The choice of devices has failed already, and that failure is the one to report.
            let _ = self.driver.ctx_destroy(context);
        }
    }
}
