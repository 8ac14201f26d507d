//! What this scenario adds to the parent's story.

use peermap_driver::{ByteSize, Device, Driver, DriverError};

use super::Task;
use crate::devices::{Chosen, Need};
use crate::exported::{Buffers, FABRIC_NEEDS, NEEDS, check_size, prop_as, room, waste};
use crate::messages::Role;
use crate::options::Options;
use crate::parent::{Plan, SizeError, Story, Supplies, SupplyError};
use crate::share_as::{ShareAs, try_fabric};
use crate::task;

/// The scenario, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemmapIpc {
    /// What is asked of every scenario.
    pub options: Options,
    /// As what the buffers are shared.
    pub share_as: ShareAs,
    /// Whether a size that is no multiple of the granularity is padded, instead of refused.
    pub round_up: bool,
}

impl MemmapIpc {
    /// What a buffer on a device has, which may be more than is used of it.
    fn room(&self, driver: &dyn Driver, device: &Chosen) -> Result<ByteSize, DriverError> {
        let size = self.options.size;
        if self.round_up { room(driver, device.device, size) } else { Ok(size) }
    }
}

impl Story for MemmapIpc {
    fn name(&self) -> &'static str {
        "memmap-ipc"
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn own_options(&self) -> Vec<(&'static str, String)> {
        vec![("handle", self.share_as.to_string()), ("round_up", self.round_up.to_string())]
    }

    fn needs(&self) -> &'static [Need] {
        match self.share_as {
            ShareAs::Auto | ShareAs::Fd => NEEDS,
            ShareAs::Fabric => FABRIC_NEEDS,
        }
    }

    fn try_device(&self, driver: &dyn Driver, device: Device) -> Result<Option<String>, DriverError> {
        match self.share_as {
            ShareAs::Auto | ShareAs::Fd => Ok(None),
            ShareAs::Fabric => Ok(try_fabric(driver, device)?.map(|no| no.reason())),
        }
    }

    fn steps(&self, workers: u32) -> u32 {
        workers
    }

    fn check_size(&self, driver: &dyn Driver, plan: &Plan, host_limit: Option<ByteSize>) -> Result<(), SizeError> {
        let room = self.room(driver, plan.first())?;
        check_size(driver, plan.first(), plan.workers, room, host_limit)
    }

    fn supply<'d>(&self, driver: &'d dyn Driver, plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError> {
        let device = plan.first();
        let room = self.room(driver, device)?;
        let (handle_type, said) = self.share_as.decide(driver, device.device, "the buffers are")?;
        let buffers = Buffers::create(driver, &prop_as(device, handle_type), plan.workers, room)?;
        let remarks = said.into_iter().chain(waste(self.options.size, room, plan.workers));
        Ok(Box::new(buffers.with_remarks(remarks.collect())))
    }

    fn role(&self, work: task::Task, _plan: &Plan) -> Role {
        Role::MemmapIpc(Task { work, round_up: self.round_up })
    }
}
