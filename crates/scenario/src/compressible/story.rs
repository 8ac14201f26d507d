//! What this scenario adds to the parent's story.

use peermap_driver::{ByteSize, Driver};

use super::extra::EXTRAS;
use crate::devices::Need;
use crate::exported::{Buffers, NEEDS, check_size, prop};
use crate::memmap_ipc;
use crate::messages::Role;
use crate::options::Options;
use crate::parent::{Plan, SizeError, Story, Supplies, SupplyError};
use crate::task;

/// The scenario, and what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compressible(pub Options);

impl Story for Compressible {
    fn name(&self) -> &'static str {
        "compressible"
    }

    fn options(&self) -> &Options {
        &self.0
    }

    fn needs(&self) -> &'static [Need] {
        NEEDS
    }

    fn steps(&self, workers: u32) -> u32 {
        workers
    }

    fn check_size(&self, driver: &dyn Driver, plan: &Plan, host_limit: Option<ByteSize>) -> Result<(), SizeError> {
        check_size(driver, plan.first(), plan.workers, self.0.size, host_limit)
    }

    fn supply<'d>(&self, driver: &'d dyn Driver, plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError> {
        let device = plan.first();
        let (mut asked, mut promised) = (prop(device), Vec::new());
        for extra in &EXTRAS {
            promised.push(extra.is_promised(driver, device)?);
            if promised.ends_with(&[true]) {
                asked = extra.asked_for(asked);
            }
        }
        let buffers = Buffers::create(driver, &asked, plan.workers, self.0.size)?;
        let given = buffers.properties()?;
        let remarks = EXTRAS.iter().zip(promised).map(|(extra, promised)| extra.remark(device, promised, &given));
        Ok(Box::new(buffers.with_remarks(remarks.collect())))
    }

    fn role(&self, work: task::Task, _plan: &Plan) -> Role {
        Role::MemmapIpc(memmap_ipc::Task { work, round_up: false })
    }
}
