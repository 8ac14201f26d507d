//! What this scenario adds to the parent's story.

use peermap_driver::{ByteSize, Driver};

use super::{Case, Task};
use crate::devices::Need;
use crate::messages::Role;
use crate::options::Options;
use crate::own_memory::{NEEDS, Nothing, check_piece};
use crate::parent::{Plan, SizeError, Story, Supplies, SupplyError, check_room};
use crate::task;

/// The scenario, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    options: Options,
    watched: bool,
}

impl Alias {
    /// The scenario with these options; it says itself how many processes each device gets. `watched`: the backend watches for
    /// reads by another address, and so has to report those that are undefined.
    #[must_use]
    pub fn new(options: Options, watched: bool) -> Self {
        Self { options: Options { processes_per_device: Case::WORKERS, ..options }, watched }
    }
}

impl Story for Alias {
    fn name(&self) -> &'static str {
        "alias"
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn own_options(&self) -> Vec<(&'static str, String)> {
        vec![("watched", self.watched.to_string())]
    }

    fn needs(&self) -> &'static [Need] {
        NEEDS
    }

    /// Nobody waits for anybody: each has memory of its own.
    fn steps(&self, _workers: u32) -> u32 {
        0
    }

    fn check_size(&self, driver: &dyn Driver, plan: &Plan, host_limit: Option<ByteSize>) -> Result<(), SizeError> {
        let piece = check_piece(driver, plan, self.options.size)?;
        check_room(driver, &plan.workers_by_device(), self.options.size, piece, host_limit)
    }

    fn supply<'d>(&self, _driver: &'d dyn Driver, _plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError> {
        Ok(Box::new(Nothing))
    }

    fn role(&self, task: task::Task, _plan: &Plan) -> Role {
        Role::Alias(Task { work: task, watched: self.watched })
    }
}
