//! What this scenario adds to the parent's story.

use peermap_driver::{ByteSize, Driver};

use super::{Task, seat};
use crate::content::Fill;
use crate::devices::Need;
use crate::exported::{Buffers, NEEDS, check_size, prop};
use crate::messages::Role;
use crate::options::Options;
use crate::parent::{Plan, SizeError, Story, Supplies, SupplyError};
use crate::task;

/// The scenario, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access(Options);

impl Access {
    /// The scenario with these options. It says itself how many processes each device gets, and fills with the pattern.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self(Options { processes_per_device: seat::count(), fill: Some(Fill::Pattern), ..options })
    }
}

impl Story for Access {
    fn name(&self) -> &'static str {
        "access"
    }

    fn options(&self) -> &Options {
        &self.0
    }

    fn needs(&self) -> &'static [Need] {
        NEEDS
    }

    /// All is filled; all is tried.
    fn steps(&self, _workers: u32) -> u32 {
        2
    }

    fn check_size(&self, driver: &dyn Driver, plan: &Plan, host_limit: Option<ByteSize>) -> Result<(), SizeError> {
        check_size(driver, plan.first(), plan.workers, self.0.size, host_limit)
    }

    fn supply<'d>(&self, driver: &'d dyn Driver, plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError> {
        Ok(Box::new(Buffers::create(driver, &prop(plan.first()), plan.workers, self.0.size)?))
    }

    fn role(&self, task: task::Task, plan: &Plan) -> Role {
        let devices = plan.workers_by_device().iter().map(|(device, _)| device.uuid).collect();
        Role::Access(Task { work: task, devices })
    }
}
