//! Where the drivers of a trace's processes come from.

use peermap_driver::Driver;

/// Why a process could not be started. Each backend has an error of its own.
pub type StartError = Box<dyn std::error::Error + Send + Sync>;

/// How a process ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum End {
    /// At once, by `_exit`: nothing is unwound, the driver is not told.
    Exit,
    /// By SIGKILL, or by a crash inside the driver.
    Kill,
}

/// Starts and ends the processes of a trace. Whoever plays traces on a backend implements it.
///
/// The player calls `end` once for every driver that `start` gave, at the latest when the trace ends.
pub trait Processes {
    /// Starts a process and gives its driver, not initialised. The numbers are the trace's own.
    ///
    /// # Errors
    /// Whatever kept the process from starting. Its steps are then not played.
    fn start(&mut self, process: u32) -> Result<Box<dyn Driver>, StartError>;

    /// Ends a process. Its descriptors are closed already, as the kernel closes them when a process ends. Where nothing is
    /// to be done but to give the driver up, this is it.
    fn end(&mut self, _process: u32, driver: Box<dyn Driver>, _how: End) {
        drop(driver);
    }
}
