//! The real driver.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use peermap_cuda::CudaDriver;
use peermap_driver::{ByteSize, Driver};
use peermap_scenario::{Backend, BackendError, WorkerEndpoint};

/// How many hardware queues a context gets.
const CONNECTIONS: &str = "CUDA_DEVICE_MAX_CONNECTIONS";

/// Says that this command chose their number, and not the user.
const CHOSEN_HERE: &str = "PEERMAP_CHOSE_CONNECTIONS";

/// A process of a run uses one stream at a time, so one hardware queue is enough. A context with one is made and destroyed in half
/// the time of one with the driver's eight (48 ms and 22 ms against 110 ms and 54 ms on an H200 with driver 580), and contexts of one
/// device are made one after the other. What the user chose stands.
fn tuning(chosen_by_user: bool) -> Vec<(String, String)> {
    if chosen_by_user { Vec::new() } else { vec![(CONNECTIONS.to_owned(), "1".to_owned())] }
}

fn is_chosen_by_user() -> bool {
    env::var_os(CONNECTIONS).is_some() && env::var_os(CHOSEN_HERE).is_none()
}

/// Tunes this process too, whose contexts stand in the way of the workers' otherwise. The driver reads the environment, which a
/// process gets when it is started: so this one starts again, unless it was or the user has chosen.
pub(super) fn tune_this_process() {
    if env::var_os(CONNECTIONS).is_none()
        && let Ok(exe) = env::current_exe()
    {
        // It returns only if it fails, and then the run takes longer and is none the worse.
        let _ = again(&exe).exec();
    }
}

/// This command, tuned.
fn again(exe: &Path) -> Command {
    let mut command = Command::new(exe);
    command.args(env::args_os().skip(1)).envs(tuning(false)).env(CHOSEN_HERE, "1");
    command
}

/// Each process loads the driver library of the host.
pub(crate) struct CudaBackend;

/// The devices that this host has files for: `/dev/nvidia0` and so on. It is a guess that costs nothing.
pub(crate) fn device_files() -> usize {
    let Ok(entries) = fs::read_dir("/dev") else { return 0 };
    entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(names_a_device)).count()
}

fn names_a_device(name: &str) -> bool {
    name.strip_prefix("nvidia").is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// The driver of this process, initialised, if a device answers.
pub(super) fn open_checked() -> anyhow::Result<Box<dyn Driver>> {
    let driver = CudaDriver::open()?;
    driver.check_devices()?;
    Ok(Box::new(driver))
}

impl Backend for CudaBackend {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn profile(&self) -> Option<&str> {
        None
    }

    fn driver(&self) -> Result<Box<dyn Driver>, BackendError> {
        CudaDriver::open()
            .map(|driver| Box::new(driver) as Box<dyn Driver>)
            .map_err(|error| BackendError::new("cuda", error))
    }

    fn worker(&self, _worker: u32) -> Result<WorkerEndpoint, BackendError> {
        Ok(WorkerEndpoint {
            args: vec!["--backend".to_owned(), "cuda".to_owned()],
            tuning: tuning(is_chosen_by_user()),
            ..WorkerEndpoint::default()
        })
    }

    fn expected_devices(&self) -> usize {
        device_files()
    }

    fn memory_limit(&self) -> Option<ByteSize> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_starts_again_says_who_chose() {
        let command = again(Path::new("/peermap"));
        let set: Vec<_> =
            command.get_envs().map(|(name, value)| (name.to_str(), value.and_then(|v| v.to_str()))).collect();
        assert_eq!(set, [(Some(CONNECTIONS), Some("1")), (Some(CHOSEN_HERE), Some("1"))]);
        assert_eq!(command.get_args().count(), env::args_os().count() - 1);
    }

    #[test]
    fn only_numbered_files_are_devices() {
        assert!(names_a_device("nvidia0") && names_a_device("nvidia15"));
        for other in ["nvidia", "nvidiactl", "nvidia-uvm", "nvidia-caps", "null"] {
            assert!(!names_a_device(other), "{other}");
        }
    }
}
