//! A context on each device, in one process.

use peermap_driver::{Context, Device, Driver, Result};

/// Contexts, one for each device that was entered.
pub(super) struct Contexts<'d> {
    driver: &'d dyn Driver,
    made: Vec<(Device, Context)>,
}

impl<'d> Contexts<'d> {
    pub(super) const fn new(driver: &'d dyn Driver) -> Self {
        Self { driver, made: Vec::new() }
    }

    /// Makes the context of a device current, and makes it if there is none.
    pub(super) fn enter(&mut self, device: Device) -> Result<Context> {
        if let Some((_, context)) = self.made.iter().find(|(known, _)| *known == device) {
            self.driver.ctx_set_current(Some(*context))?;
            return Ok(*context);
        }
        let context = self.driver.ctx_create(0, device)?;
        self.made.push((device, context));
        Ok(context)
    }

    /// Destroys all; gives the first thing that went wrong.
    pub(super) fn destroy(&mut self) -> Result<()> {
        self.made.drain(..).map(|(_, context)| self.driver.ctx_destroy(context)).fold(Ok(()), Result::and)
    }
}
