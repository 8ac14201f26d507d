//! What suites work with.

use peermap_driver::{AllocationProp, ByteSize, Context, Device, Driver, GranularityOption, HandleType};
use peermap_report::RunReport;
use peermap_scenario::Options;
use peermap_scenario::simple_ipc::SimpleIpc;

use crate::effort::Effort;
use crate::error::BenchError;

/// Who can run a scenario: whoever has a backend and can start workers.
pub trait Crew {
    /// Runs the main job once.
    ///
    /// # Errors
    /// [`BenchError::Run`] if it does not succeed.
    fn memmap_ipc(&self, options: &Options) -> Result<RunReport, BenchError>;

    /// Runs simple-ipc once.
    ///
    /// # Errors
    /// As [`memmap_ipc`](Crew::memmap_ipc).
    fn simple_ipc(&self, scenario: &SimpleIpc) -> Result<RunReport, BenchError>;
}

/// What suites work with: a driver that is initialised, with a context on each device.
pub struct Rig<'d> {
    /// The driver.
    pub driver: &'d dyn Driver,
    /// Who runs scenarios.
    pub crew: &'d dyn Crew,
    /// How much is measured.
    pub effort: Effort,
    /// Whether the devices are simulated: their memory is memory of the host then, and large sizes are left out.
    pub simulated: bool,
    /// The devices, each with its context.
    pub devices: Vec<(Device, Context)>,
}

/// What simulated memory may be moved at a time.
const MOST_SIMULATED: ByteSize = ByteSize::mib(64);

impl<'d> Rig<'d> {
    /// Initialises a driver and makes a context on each device.
    ///
    /// # Errors
    /// If a call fails, or there is no device.
    pub fn new(
        driver: &'d dyn Driver,
        crew: &'d dyn Crew,
        effort: Effort,
        simulated: bool,
    ) -> Result<Self, BenchError> {
        driver.init(0)?;
        // More would take seconds to set up, and pairs of devices are all alike on the machines that there are.
        let count = driver.device_get_count()?.min(8);
        let with_context = |ordinal| {
            let device = driver.device_get(ordinal)?;
            Ok((device, driver.ctx_create(0, device)?))
        };
        let devices = (0..count).map(with_context).collect::<Result<Vec<_>, BenchError>>()?;
        if devices.is_empty() {
            return Err(BenchError::NotHere("there is no device".to_owned()));
        }
        let rig = Self { driver, crew, effort, simulated, devices };
        rig.work_on(0)?;
        Ok(rig)
    }

    /// Makes the context of a device current.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn work_on(&self, index: usize) -> Result<(), BenchError> {
        Ok(self.driver.ctx_set_current(Some(self.devices[index].1))?)
    }

    /// The properties of memory of a device that can be shared.
    #[must_use]
    pub fn memory_of(&self, index: usize) -> AllocationProp {
        AllocationProp::pinned_on(self.devices[index].0.0, HandleType::POSIX_FILE_DESCRIPTOR)
    }

    /// The unit of allocations.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn granularity(&self) -> Result<ByteSize, BenchError> {
        Ok(self.driver.mem_get_allocation_granularity(&self.memory_of(0), GranularityOption::MINIMUM)?)
    }

    /// The sizes that are measured, of those that a suite would measure: fewer in a quick run.
    #[must_use]
    pub fn sizes(&self, full: &[ByteSize], quick: &[ByteSize]) -> Vec<ByteSize> {
        if self.effort.quick { quick.to_vec() } else { full.to_vec() }
    }

    /// Refuses to move so much simulated memory.
    ///
    /// # Errors
    /// [`BenchError::NotHere`].
    pub fn can_move(&self, size: ByteSize) -> Result<(), BenchError> {
        if self.simulated && size > MOST_SIMULATED {
            return Err(BenchError::NotHere(format!("simulated memory is moved up to {MOST_SIMULATED} at a time")));
        }
        Ok(())
    }

    /// The device that reaches the memory of the first one, if there is one.
    #[must_use]
    pub fn peer(&self) -> Option<usize> {
        let (first, _) = *self.devices.first()?;
        let reaches = |device: Device| self.driver.device_can_access_peer(device, first).unwrap_or(false);
        (1..self.devices.len()).find(|index| reaches(self.devices[*index].0))
    }
}
