//! What can be asked of every scenario.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use peermap_driver::ByteSize;

use crate::check::{Verify, VerifyOn};
use crate::content::Fill;
use crate::devices::{DeviceChoice, MAX_DEVICES};
use crate::error::UsageError;
use crate::kernels::KernelSource;

/// What can be asked of every scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The devices, in this order; `None`: all that fit together.
    pub devices: Option<Vec<DeviceChoice>>,
    /// Workers on each device.
    pub processes_per_device: u32,
    /// The size of each worker's buffer.
    pub size: ByteSize,
    /// What workers fill with; `None`: their ids, or the pattern if there are more than 255.
    pub fill: Option<Fill>,
    /// Which buffers each worker verifies.
    pub verify: Verify,
    /// Where.
    pub verify_on: VerifyOn,
    /// How long the run may take.
    pub timeout: Duration,
    /// Whether the parent makes contexts and enables peer access both ways, as the sample does.
    pub enable_peers: bool,
    /// The folder of the kernels; `None`: beside the executable, or else the embedded ones.
    pub kernels: Option<PathBuf>,
    /// Whether to measure the least possible time, and `cuMemsetD8Async` beside the kernels, after the run.
    pub measure: bool,
    /// Whether to say where the kernels came from and what their compiler said.
    pub verbose: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            devices: None,
            processes_per_device: 1,
            size: ByteSize::mib(4),
            fill: None,
            verify: Verify::Own,
            verify_on: VerifyOn::Device,
            timeout: Duration::from_secs(60),
            enable_peers: false,
            kernels: None,
            measure: false,
            verbose: false,
        }
    }
}

impl Options {
    /// Refuses what cannot be on any machine.
    pub(crate) fn check(&self) -> Result<(), UsageError> {
        if self.size.is_zero() {
            return Err(UsageError::ZeroSize);
        }
        if self.processes_per_device == 0 {
            return Err(UsageError::ZeroProcesses);
        }
        if self.timeout.is_zero() {
            return Err(UsageError::ZeroTimeout);
        }
        match &self.devices {
            Some(devices) if devices.is_empty() => Err(UsageError::NoDevices),
            Some(devices) if devices.len() > MAX_DEVICES => Err(UsageError::OverMaximum { asked: devices.len() }),
            Some(devices) => no_duplicates(devices),
            None => Ok(()),
        }?;
        // All devices that are asked for take part, or else at least one.
        let workers = self.workers(self.devices.as_ref().map_or(1, Vec::len))?;
        self.fill_of(workers).map(drop)
    }

    /// The workers of so many devices.
    pub(crate) fn workers(&self, devices: usize) -> Result<u32, UsageError> {
        let max = peermap_ipc::barrier::MAX_MEMBERS;
        let workers = (devices as u64).saturating_mul(u64::from(self.processes_per_device));
        u32::try_from(workers).ok().filter(|count| *count <= max).ok_or(UsageError::TooManyWorkers { workers, max })
    }

    /// What so many workers fill with.
    pub(crate) fn fill_of(&self, workers: u32) -> Result<Fill, UsageError> {
        Fill::decide(self.fill, workers).ok_or(UsageError::IdsDoNotFit { workers })
    }

    /// The same for a report. `None`: not decided when the run ended.
    pub(crate) fn shown(&self, fill: Option<Fill>, kernels: Option<&KernelSource>) -> BTreeMap<String, String> {
        let devices = self.devices.as_ref().map_or_else(
            || "all".to_owned(),
            |devices| devices.iter().map(DeviceChoice::to_string).collect::<Vec<_>>().join(", "),
        );
        let open = || "undecided".to_owned();
        BTreeMap::from(
            [
                ("devices", devices),
                ("processes_per_device", self.processes_per_device.to_string()),
                ("size", self.size.to_string()),
                ("fill", fill.map_or_else(open, |fill| fill.to_string())),
                ("verify", self.verify.to_string()),
                ("verify_on", self.verify_on.to_string()),
                ("timeout_s", self.timeout.as_secs_f64().to_string()),
                ("enable_peers", self.enable_peers.to_string()),
                ("kernels", kernels.map_or_else(open, KernelSource::to_string)),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        )
    }
}

fn no_duplicates(devices: &[DeviceChoice]) -> Result<(), UsageError> {
    let twice = devices.iter().enumerate().find(|(index, device)| devices[..*index].contains(device));
    twice.map_or(Ok(()), |(_, device)| Err(UsageError::DuplicateDevice { device: device.to_string() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_samples() {
        let options = Options::default();
        assert_eq!((options.size, options.processes_per_device), (ByteSize::mib(4), 1));
        assert!(options.check().is_ok());
    }

    #[test]
    fn what_cannot_be_on_any_machine_is_refused_at_once() {
        let refused = |options: Options| options.check().unwrap_err();
        let default = Options::default;
        assert!(matches!(refused(Options { size: ByteSize::ZERO, ..default() }), UsageError::ZeroSize));
        assert!(matches!(refused(Options { processes_per_device: 0, ..default() }), UsageError::ZeroProcesses));
        assert!(matches!(refused(Options { timeout: Duration::ZERO, ..default() }), UsageError::ZeroTimeout));
        let devices = |ordinals: &[i32]| Options {
            devices: Some(ordinals.iter().map(|ordinal| DeviceChoice::Ordinal(*ordinal)).collect()),
            ..default()
        };
        assert!(matches!(refused(devices(&[])), UsageError::NoDevices));
        assert!(matches!(refused(devices(&[1, 0, 1])), UsageError::DuplicateDevice { .. }));
        let many: Vec<i32> = (0..33).collect();
        assert!(matches!(refused(devices(&many)), UsageError::OverMaximum { asked: 33 }));
    }

    #[test]
    fn ids_that_cannot_fit_a_byte_are_refused_at_once() {
        let asked = Options { fill: Some(Fill::Id), processes_per_device: 128, ..Options::default() };
        assert!(asked.check().is_ok(), "there may be a single device");
        let devices = Some(vec![DeviceChoice::Ordinal(0), DeviceChoice::Ordinal(1)]);
        let both = Options { devices, ..asked.clone() };
        assert!(matches!(both.check(), Err(UsageError::IdsDoNotFit { workers: 256 })));
        let many = Options { processes_per_device: 256, ..asked };
        assert!(matches!(many.check(), Err(UsageError::IdsDoNotFit { workers: 256 })));
    }

    #[test]
    fn more_workers_than_a_barrier_can_have_are_refused() {
        let options = Options { processes_per_device: u32::MAX, ..Options::default() };
        assert!(matches!(options.workers(32), Err(UsageError::TooManyWorkers { max: 65_536, .. })));
        assert_eq!(Options { processes_per_device: 3, ..Options::default() }.workers(2).unwrap(), 6);
    }
}
