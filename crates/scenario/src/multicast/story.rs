//! What this scenario adds to the parent's story.

use peermap_driver::{
    ByteSize, CuResult, Device, DeviceAttribute, Driver, DriverError, GranularityOption, HandleType,
    MulticastObjectProp,
};

use super::object::{Object, granularity, room};
use super::worker::MEETINGS;
use super::{Multicast, Task, Team};
use crate::devices::{Chosen, Need};
use crate::error::{UsageError, one_line};
use crate::exported::{FABRIC_NEEDS, NEEDS, waste};
use crate::messages::Role;
use crate::options::Options;
use crate::parent::{Plan, SizeError, Story, Supplies, SupplyError, check_room};
use crate::share_as::{ShareAs, try_fabric};
use crate::task;

/// What a device needs beyond what memory shared as such handles needs.
const MULTICAST: Need = Need::new(DeviceAttribute::MULTICAST_SUPPORTED, "no multicast");
/// What a device needs in order to take part.
const FD_TEAM_NEEDS: &[Need] = &[NEEDS[0], NEEDS[1], NEEDS[2], MULTICAST];
/// The same if the team is shared as fabric handles.
const FABRIC_TEAM_NEEDS: &[Need] = &[FABRIC_NEEDS[0], FABRIC_NEEDS[1], FABRIC_NEEDS[2], MULTICAST];

/// Each device has its copy, and as much for sums.
const BUFFERS_PER_DEVICE: u32 = 2;

impl Multicast {
    /// What each device binds, which may be more than is used of it.
    fn room(&self, driver: &dyn Driver, plan: &Plan) -> Result<ByteSize, DriverError> {
        let (device, devices) = (plan.first().device, plan.devices().len() as u32);
        if self.team.round_up { room(driver, device, devices, self.options.size) } else { Ok(self.options.size) }
    }
}

impl Story for Multicast {
    fn name(&self) -> &'static str {
        "multicast"
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn own_options(&self) -> Vec<(&'static str, String)> {
        let Team { one_process, absent, share_as, round_up } = self.team;
        let absent = absent.map_or_else(|| "none".to_owned(), |rank| rank.to_string());
        vec![
            ("one_process", one_process.to_string()),
            ("absent", absent),
            ("handle", share_as.to_string()),
            ("round_up", round_up.to_string()),
        ]
    }

    fn needs(&self) -> &'static [Need] {
        match self.team.share_as {
            ShareAs::Auto | ShareAs::Fd => FD_TEAM_NEEDS,
            ShareAs::Fabric => FABRIC_TEAM_NEEDS,
        }
    }

    fn workers(&self, devices: usize) -> Result<u32, UsageError> {
        self.options.workers(if self.team.one_process { devices.min(1) } else { devices })
    }

    /// A driver may know multicast and not let it happen.
    fn try_device(&self, driver: &dyn Driver, device: Device) -> Result<Option<String>, DriverError> {
        let team = MulticastObjectProp::team_of(1, self.options.size, HandleType::NONE);
        match (driver.multicast_get_granularity(&team, GranularityOption::MINIMUM), self.team.share_as) {
            (Err(error), _) if matches!(error.result(), Some(CuResult::NOT_PERMITTED | CuResult::NOT_SUPPORTED)) => {
                Ok(Some(one_line(&error)))
            }
            (Ok(_), ShareAs::Fabric) => Ok(try_fabric(driver, device)?.map(|no| no.reason())),
            (answer, _) => answer.map(|_| None),
        }
    }

    fn steps(&self, _workers: u32) -> u32 {
        MEETINGS
    }

    fn check_size(&self, driver: &dyn Driver, plan: &Plan, host_limit: Option<ByteSize>) -> Result<(), SizeError> {
        let size = self.options.size;
        let devices: Vec<(&Chosen, u32)> = plan.devices().iter().map(|device| (device, BUFFERS_PER_DEVICE)).collect();
        self.check_absent(devices.len() as u32)?;
        let granularity = granularity(driver, plan.first().device, devices.len() as u32, size)?;
        let room = self.room(driver, plan)?;
        if !room.is_multiple_of(granularity) {
            let next = size.checked_next_multiple_of(granularity);
            return Err(UsageError::Granularity { size, granularity, next }.into());
        }
        check_room(driver, &devices, room, granularity, host_limit)
    }

    fn supply<'d>(&self, driver: &'d dyn Driver, plan: &Plan) -> Result<Box<dyn Supplies + 'd>, SupplyError> {
        let (devices, room) = (plan.devices().len() as u32, self.room(driver, plan)?);
        let (handle_type, said) = self.team.share_as.decide(driver, plan.first().device, "the team is")?;
        let remarks = said.into_iter().chain(waste(self.options.size, room, devices)).collect();
        let prop = MulticastObjectProp::team_of(devices, room, handle_type);
        Ok(Box::new(Object::create(driver, &prop, plan.workers, remarks)?))
    }

    fn role(&self, task: task::Task, plan: &Plan) -> Role {
        let devices = plan.devices().iter().map(|device| device.uuid).collect();
        Role::Multicast(Task { work: task, devices, absent: self.team.absent, round_up: self.team.round_up })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::MockDriver;

    #[test]
    fn a_driver_that_does_not_let_multicast_happen_is_told_from_one_that_fails() {
        let obstacle = |code| {
            let driver = MockDriver::with_devices(2).granularity_of_teams(code);
            Multicast::default().try_device(&driver, Device(0))
        };
        assert_eq!(obstacle(CuResult::SUCCESS), Ok(None));
        assert_eq!(obstacle(CuResult::NOT_PERMITTED), Ok(Some("CUDA_ERROR_NOT_PERMITTED".to_owned())));
        assert_eq!(obstacle(CuResult::NOT_SUPPORTED), Ok(Some("CUDA_ERROR_NOT_SUPPORTED".to_owned())));
        assert_eq!(obstacle(CuResult::UNKNOWN), Err(DriverError::refused(CuResult::UNKNOWN)));
    }
}
