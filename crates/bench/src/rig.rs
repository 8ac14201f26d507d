//! What suites work with.

use std::cell::OnceCell;

use peermap_driver::{AllocationProp, ByteSize, Context, Device, Driver, GranularityOption, HandleType};
use peermap_ipc::{Channel, Child};
use peermap_report::RunReport;
use peermap_scenario::Scenario;

use crate::effort::Effort;
use crate::error::BenchError;
use crate::partner::Pair;
use crate::peak::Peaks;

/// Who can start processes of the executable that measures.
pub trait Starter {
    /// Starts a process that calls [`partner_main`](crate::partner_main) with the other end of this channel; `with_driver`:
    /// and with a way to a driver on the machine of [`Crew::driver`].
    ///
    /// # Errors
    /// [`BenchError`] if it cannot be started.
    fn start(&self, with_driver: bool) -> Result<(Child, Channel), BenchError>;
}

/// Who has a machine that several processes share: whoever has a backend.
pub trait Crew: Starter {
    /// A driver of this process on that machine. It is not initialised.
    ///
    /// # Errors
    /// [`BenchError`] if there is none.
    fn driver(&self) -> Result<Box<dyn Driver>, BenchError>;

    /// Runs a scenario once.
    ///
    /// # Errors
    /// [`BenchError::Run`] if it does not succeed.
    fn run(&self, scenario: &Scenario) -> Result<RunReport, BenchError>;
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
    /// What their links can do at most.
    pub peaks: Peaks,
    pair: OnceCell<Pair>,
}

/// How many devices are measured at most.
pub const MOST_DEVICES: i32 = 8;

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
        let count = driver.device_get_count()?.min(MOST_DEVICES);
        let with_context = |ordinal| {
            let device = driver.device_get(ordinal)?;
            Ok((device, driver.ctx_create(0, device)?))
        };
        let devices = (0..count).map(with_context).collect::<Result<Vec<_>, BenchError>>()?;
        if devices.is_empty() {
            return Err(BenchError::NotHere("there is no device".to_owned()));
        }
        let rig = Self { driver, crew, effort, simulated, devices, peaks: Peaks::default(), pair: OnceCell::new() };
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

    /// This process and another one on one machine. They are there from the first time that they are asked for.
    pub(crate) fn pair(&self) -> Result<&Pair, BenchError> {
        match self.pair.get() {
            Some(pair) => Ok(pair),
            None => {
                let pair = Pair::new(self.crew)?;
                Ok(self.pair.get_or_init(|| pair))
            }
        }
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

    /// How often work on so many bytes is repeated between two events, so that neither their resolution nor what it takes to
    /// start the work matters.
    pub(crate) fn repetitions(&self, bytes: u64) -> u32 {
        let enough: u64 = if self.simulated { 32 << 20 } else { 256 << 20 };
        u32::try_from(enough / bytes.max(1)).unwrap_or(u32::MAX).clamp(1, 64)
    }

    /// The device that reaches the memory of the first one, if there is one.
    #[must_use]
    pub fn peer(&self) -> Option<usize> {
        let (first, _) = *self.devices.first()?;
        let reaches = |device: Device| self.driver.device_can_access_peer(device, first).unwrap_or(false);
        (1..self.devices.len()).find(|index| reaches(self.devices[*index].0))
    }

    /// The same for work that cannot do without.
    ///
    /// # Errors
    /// [`BenchError::NotHere`].
    pub(crate) fn needed_peer(&self) -> Result<usize, BenchError> {
        self.peer().ok_or_else(|| BenchError::NotHere("no other device reaches the first one".to_owned()))
    }
}
