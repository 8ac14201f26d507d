//! What this scenario adds to the parent's story, and to the worker's.

use peermap_driver::{ByteSize, DeviceAttribute, Driver};
use peermap_ipc::Member;

use super::PoolIpc;
use super::exporter::{Exporter, HANDLE_TYPE};
use super::importer::Importer;
use crate::devices::Need;
use crate::error::UsageError;
use crate::messages::{Done, Role};
use crate::options::Options;
use crate::parent::{Plan, SizeError, Story, Supplies, SupplyError, check_room};
use crate::post::Delivery;
use crate::relay::{self, Exports};
use crate::task;
use crate::worker::{Station, WorkerError};

/// What a pool takes from its device at a time.
const UNIT: ByteSize = ByteSize::mib(32);
/// What a host that backs simulated memory gives at a time, and only what is written.
const PAGE: ByteSize = ByteSize::mib(2);

/// What a device needs in order to take part.
const NEEDS: &[Need] = &[
    Need::new(DeviceAttribute::UNIFIED_ADDRESSING, "no unified addressing"),
    Need::new(DeviceAttribute::MEMORY_POOLS_SUPPORTED, "no memory pools"),
    Need::bits(
        DeviceAttribute::MEMPOOL_SUPPORTED_HANDLE_TYPES,
        HANDLE_TYPE.0.cast_signed(),
        "memory pools cannot be shared as file descriptors",
    ),
];

impl Story for PoolIpc {
    fn name(&self) -> &'static str {
        "pool-ipc"
    }

    fn options(&self) -> &Options {
        &self.relay.options
    }

    fn own_options(&self) -> Vec<(&'static str, String)> {
        let mut shown = self.relay.shown();
        shown.push(("handles", self.handles.to_string()));
        shown
    }

    fn check(&self) -> Result<(), UsageError> {
        self.relay.check_steps()
    }

    fn needs(&self) -> &'static [Need] {
        NEEDS
    }

    fn steps(&self, workers: u32) -> u32 {
        self.relay.steps(workers)
    }

    fn check_size(&self, driver: &dyn Driver, plan: &Plan, host_limit: Option<ByteSize>) -> Result<(), SizeError> {
        let (buffers, size) = (plan.workers_by_device(), self.relay.options.size);
        check_room(driver, &buffers, size, UNIT, None)?;
        check_room(driver, &buffers, size, PAGE, host_limit)
    }

    fn supply<'d>(&self, driver: &'d dyn Driver, plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError> {
        let exporter = Exporter::new(driver, self.handles);
        Ok(Box::new(Exports::create(driver, plan, self.relay.options.size, exporter)?))
    }

    fn role(&self, task: task::Task, plan: &Plan) -> Role {
        Role::PoolIpc(self.relay.task(task, plan.workers))
    }
}

/// Does the work of one worker. The descriptors behind that of the handles are those of the pools.
pub(crate) fn work(
    station: &mut Station<'_>,
    member: Member,
    delivery: Delivery<'_>,
    task: &relay::Task,
) -> Result<Done, WorkerError> {
    let (driver, device) = (station.driver, station.device);
    relay::work(station, member, delivery, task, |stream, pools| Importer::new(driver, device, stream, pools))
}
