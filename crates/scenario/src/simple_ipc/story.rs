//! What this scenario adds to the parent's story, and to the worker's.

use peermap_driver::{ByteSize, DeviceAttribute, Driver};
use peermap_ipc::Member;

use super::exporter::Exporter;
use super::importer::Importer;
use crate::devices::Need;
use crate::error::UsageError;
use crate::messages::{Done, Role};
use crate::options::Options;
use crate::parent::{Plan, SizeError, Story, Supplies, SupplyError, check_room};
use crate::post::Delivery;
use crate::relay::{self, Exports, Relay};
use crate::task;
use crate::worker::{Station, WorkerError};

/// The pages that large `cuMemAlloc` allocations consist of.
const PAGE: ByteSize = ByteSize::mib(2);

/// What a device needs in order to take part.
const NEEDS: &[Need] = &[Need::new(DeviceAttribute::UNIFIED_ADDRESSING, "no unified addressing")];

/// The scenario, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimpleIpc(pub Relay);

impl Story for SimpleIpc {
    fn name(&self) -> &'static str {
        "simple-ipc"
    }

    fn options(&self) -> &Options {
        &self.0.options
    }

    fn own_options(&self) -> Vec<(&'static str, String)> {
        self.0.shown()
    }

    fn check(&self) -> Result<(), UsageError> {
        self.0.check_steps()
    }

    fn needs(&self) -> &'static [Need] {
        NEEDS
    }

    fn steps(&self, workers: u32) -> u32 {
        self.0.steps(workers)
    }

    fn check_size(&self, driver: &dyn Driver, plan: &Plan, host_limit: Option<ByteSize>) -> Result<(), SizeError> {
        check_room(driver, &plan.workers_by_device(), self.0.options.size, PAGE, host_limit)
    }

    fn supply<'d>(&self, driver: &'d dyn Driver, plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError> {
        Ok(Box::new(Exports::create(driver, plan, self.0.options.size, Exporter::new(driver))?))
    }

    fn role(&self, task: task::Task, plan: &Plan) -> Role {
        Role::SimpleIpc(self.0.task(task, plan.workers))
    }
}

/// Does the work of one worker.
pub(crate) fn work(
    station: &mut Station<'_>,
    member: Member,
    delivery: Delivery<'_>,
    task: &relay::Task,
) -> Result<Done, WorkerError> {
    let driver = station.driver;
    relay::work(station, member, delivery, task, |_stream, _descriptors| Importer(driver))
}
