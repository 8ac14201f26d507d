//! What a process of a simulated Windows does with its NT handles outside the driver.

use peermap_driver::{Result, Win32Handle};
use peermap_model::{Outside, Process};

use crate::process::{SimProcess, State};
use crate::tables::Tables;

impl SimProcess {
    /// `DuplicateHandle`: hands what a handle of this process is of to another process of the machine, as a handle of that
    /// process's own table.
    ///
    /// # Errors
    /// [`DriverError::Host`](peermap_driver::DriverError::Host) if this process has no such handle, or the other one is gone.
    pub fn duplicate_handle(&self, handle: Win32Handle, to: &Self) -> Result<Win32Handle> {
        let to = to.id();
        self.outside_the_driver(|process, outside| process.duplicate_handle(outside, handle, to))
    }

    /// `CloseHandle`.
    ///
    /// # Errors
    /// [`DriverError::Host`](peermap_driver::DriverError::Host) if this process has no such handle.
    pub fn close_handle(&self, handle: Win32Handle) -> Result<()> {
        self.outside_the_driver(|process, outside| process.close_handle(outside, handle))
    }

    fn outside_the_driver<T>(&self, f: impl FnOnce(&Process, &mut Outside<'_>) -> Result<T>) -> Result<T> {
        let mut state = self.inner.lock();
        let State { process, link, .. } = &mut *state;
        let mut tables = Tables(&self.inner.memory.tables);
        f(process, &mut Outside { machine: &mut **link, tables: &mut tables })
    }
}
