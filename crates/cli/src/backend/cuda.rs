//! The real driver.

use std::{env, fs};

use peermap_cuda::CudaDriver;
use peermap_driver::{ByteSize, Driver};
use peermap_scenario::{Backend, BackendError, WorkerEndpoint};

/// How many hardware queues a context gets.
const CONNECTIONS: &str = "CUDA_DEVICE_MAX_CONNECTIONS";

/// A worker uses one stream, so one hardware queue is enough. A context with one is made and destroyed in half the time of
/// one with the driver's eight (48 ms and 22 ms against 110 ms and 54 ms on an H200 with driver 580), and contexts of one
/// device are made one after the other. What the user chose stands.
fn tuning(chosen_by_user: bool) -> Vec<(String, String)> {
    if chosen_by_user { Vec::new() } else { vec![(CONNECTIONS.to_owned(), "1".to_owned())] }
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
            tuning: tuning(env::var_os(CONNECTIONS).is_some()),
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
    fn only_numbered_files_are_devices() {
        assert!(names_a_device("nvidia0") && names_a_device("nvidia15"));
        for other in ["nvidia", "nvidiactl", "nvidia-uvm", "nvidia-caps", "null"] {
            assert!(!names_a_device(other), "{other}");
        }
    }
}
